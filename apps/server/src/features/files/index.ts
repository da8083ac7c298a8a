export type { BlobInfo, LinkServedStore } from "../../engines/blobs/blobs.ts";
export { linkSecondsOf, parseS3Path, type S3Address } from "./address.rules.ts";
export { type Examined, examineContent } from "./content-type.ts";
export { deleteOutputs } from "./delete-files.ts";
export { defaultMaxUploadBytes, type FilesDeps, type PresignedUrl } from "./files-deps.ts";
export { type Files, openFiles } from "./open-files.ts";
export type { ListedFile, OwnedFile } from "./read-files.ts";
export { bytesLeft, countStored, quotaExceeded, readStorage, type Storage } from "./storage-quota.ts";
export type { StoredOutput, Upload } from "./store-file.ts";
