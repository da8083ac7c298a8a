export type { MultipartBody, MultipartFile, MultipartLimits, OnFile } from "./form.ts";
export { type ReadMultipartOptions, readMultipart } from "./read-multipart.ts";
