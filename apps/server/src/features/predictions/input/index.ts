export type { UserPart, WebhookPart } from "./check-extras.rules.ts";
export type { Extras } from "./check-fields.rules.ts";
export type { OpenStored } from "./fetch-file.ts";
export type { FormBody, FormEntry, FormFile, FormReader } from "./form.ts";
export { formOfValues, type OpenValue } from "./form-of-values.ts";
export { type ImageRequest, type InlineImage, imageReader, type ReadImage } from "./read-image.ts";
export {
  type CheckedInput,
  type InputDeps,
  type InputRequest,
  type ReadModelInput,
  readInput,
  readModelInput,
} from "./read-input.ts";
export type { CheckedFile } from "./receive-file.ts";
export { type ReceivedForm, receiveForm } from "./receive-form.ts";
export { openSpool, sweepSpool } from "./spool.ts";
