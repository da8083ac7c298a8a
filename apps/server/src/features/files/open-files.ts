import { withContext } from "../../kernel/with-context.ts";
import { formatS3Path } from "./address.rules.ts";
import { collectDeletedFiles, deleteFile, deleteSomeOf, dropOldUploads } from "./delete-files.ts";
import type { FilesDeps } from "./files-deps.ts";
import { exportFiles, holdsNewestFile, listFiles, openOwnedFile, presignDownload, signDownload } from "./read-files.ts";
import { readStorage, refuseBeyondQuota } from "./storage-quota.ts";
import { storeOutput, storeUpload, withdrawUpload } from "./store-file.ts";
import { sweepAbandonedFiles } from "./sweep-abandoned-files.ts";
import { createUploadLink, findUploadTarget, recordUpload } from "./upload-links.ts";

export type Files = ReturnType<typeof openFiles>;

export function openFiles(deps: FilesDeps) {
  return {
    maxUploadBytes: deps.maxUploadBytes,
    /** The `s3://` address of a stored file. */
    addressOf: (key: string) => formatS3Path({ bucket: deps.blobs.bucket, key }),
    storageOf: (userId: string) => readStorage(deps.database.sql, userId, deps.storageBytesPerUser),
    ...withContext(deps, {
      collectDeletedFiles,
      createUploadLink,
      deleteFile,
      deleteSomeOf,
      dropOldUploads,
      exportFiles,
      findUploadTarget,
      holdsNewestFile,
      listFiles,
      openOwnedFile,
      presignDownload,
      recordUpload,
      refuseBeyondQuota,
      signDownload,
      storeOutput,
      storeUpload,
      sweepAbandonedFiles,
      withdrawUpload,
    }),
  };
}
