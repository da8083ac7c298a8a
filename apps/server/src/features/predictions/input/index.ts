export type { UserPart, WebhookPart } from "./check-extras.rules.ts";
export type { Extras } from "./check-fields.rules.ts";
export type { OpenStored } from "./fetch-file.ts";
export type { FormBody, FormEntry, FormFile, FormReader } from "./form.ts";
export { formOfValues, type OpenValue } from "./form-of-values.ts";
export { type HeldForm, holdForm } from "./hold-form.ts";
export { type CheckedInput, type InputSources, type ReadInputOptions, readInput } from "./read-input.ts";
export type { CheckedFile } from "./receive-file.ts";
export { sweepSpool } from "./spool.ts";
