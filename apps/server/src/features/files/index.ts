export type { BlobInfo, LinkServedStore } from "../../engines/blobs/blobs.ts";
export { parseS3Path, type S3Address } from "./address.rules.ts";
export { type Examined, examineContent } from "./content-type.ts";
export { collectDeletedFiles, deleteFile, dropOldUploads } from "./delete-files.ts";
export { defaultMaxUploadBytes, type FilesDeps, linkSeconds, type PresignedUrl } from "./files-deps.ts";
export {
  holdsNewestFile,
  type ListedFile,
  listFiles,
  type OwnedFile,
  openOwnedFile,
  presignDownload,
  signDownload,
} from "./read-files.ts";
export {
  bytesLeft,
  countStored,
  quotaExceeded,
  readStorage,
  refuseBeyondQuota,
  type Storage,
} from "./storage-quota.ts";
export { type StoredOutput, storeOutput, storeUpload, type Upload, withdrawUpload } from "./store-file.ts";
export { sweepAbandonedFiles } from "./sweep-abandoned-files.ts";
export { createUploadLink, findUploadTarget, recordUpload } from "./upload-links.ts";
