export type { MultipartBody, MultipartEntry, MultipartFile, OnFile } from "./form.ts";
export { leaveBody } from "./leave-body.ts";
export { defaultLimits, type MultipartLimits } from "./limits.ts";
export { type ReadMultipartOptions, readMultipart } from "./read-multipart.ts";
