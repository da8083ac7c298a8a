export { blobApi } from "./blob-api.ts";
export type { BlobApiDeps } from "./blob-api-deps.ts";
