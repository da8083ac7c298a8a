export type { MultipartBody, MultipartFile, OnFile } from "./form.ts";
export type { MultipartLimits } from "./limits.ts";
export { type ReadMultipartOptions, readMultipart } from "./read-multipart.ts";
