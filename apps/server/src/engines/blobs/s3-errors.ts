import { S3ServiceException } from "@aws-sdk/client-s3";
import { type Fault, fault } from "../../kernel/errors.ts";

/** How servers say that there is no room: AWS has no limit, the others name a disk, a quota or a size. */
const fullCodes = new Set([
  "EntityTooLarge", // no part of ours is larger than any server takes, so it is a quota (Swift)
  "InsufficientStorage",
  "QuotaExceeded", // Ceph
  "StorageFull",
  "XMinioStorageFull",
  "XMinioAdminBucketQuotaExceeded",
]);

export function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

/** HEAD answers have no body, so there only the status tells. A bucket that is gone is no missing object. */
export function isMissing(error: unknown): boolean {
  return statusOf(error) === 404 && !(error instanceof Error && error.name === "NoSuchBucket");
}

/**
 * What to reject with. Whatever is wrong between us and the store (no connection, no answer, wrong credentials, a bucket
 * that is gone) is no fault of the caller and may pass: it is told to come again, and the operator finds the cause in
 * the log.
 */
export function asStoreFault(error: unknown): Fault {
  const code = error instanceof Error ? error.name : "";
  if (statusOf(error) === 507 || fullCodes.has(code)) {
    return fault("storage_full", "There is not enough disk space to store the file", { cause: error });
  }
  return fault("service_unavailable", "The file store cannot be reached for the moment.", { cause: error });
}

/** For the operator, at start. */
export function reasonOf(error: unknown): string {
  const root = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (root instanceof AggregateError) return root.errors.map(reasonOf).join(", ");
  if (!(root instanceof Error)) return String(root);
  const status = statusOf(root);
  const named = root.name === "Error" || root.name === "Unknown" ? "" : `${root.name}: `;
  return `${named}${root.message}${status === undefined ? "" : ` (HTTP ${status})`}`;
}
