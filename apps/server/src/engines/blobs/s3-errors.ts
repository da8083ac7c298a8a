import { S3ServiceException } from "@aws-sdk/client-s3";
import { type Fault, fault } from "../../kernel/errors.ts";

/** Codes for a full store. AWS has no limit; other servers name a disk, a quota or a size. */
const fullCodes = new Set([
  "EntityTooLarge", // Swift's quota: our parts are never too large.
  "InsufficientStorage",
  "QuotaExceeded", // Ceph
  "StorageFull",
  "XMinioStorageFull",
  "XMinioAdminBucketQuotaExceeded",
]);

export function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

/** HEAD responses have only a status. A missing bucket is not a missing object. */
export function isMissing(error: unknown): boolean {
  return statusOf(error) === 404 && !(error instanceof Error && error.name === "NoSuchBucket");
}

/**
 * Any problem between the server and the store (connection, timeout, credentials, missing bucket) may pass, so the caller
 * may retry. The log contains the cause.
 */
export function asStoreFault(error: unknown): Fault {
  const code = error instanceof Error ? error.name : "";
  if (statusOf(error) === 507 || fullCodes.has(code)) {
    return fault("storage_full", "There is not enough disk space to store the file", { cause: error });
  }
  return fault("service_unavailable", "The file store cannot be reached for the moment.", { cause: error });
}

export function reasonOf(error: unknown): string {
  const root = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (root instanceof AggregateError) return root.errors.map(reasonOf).join(", ");
  if (!(root instanceof Error)) return String(root);
  const status = statusOf(root);
  const named = root.name === "Error" || root.name === "Unknown" ? "" : `${root.name}: `;
  return `${named}${root.message}${status === undefined ? "" : ` (HTTP ${status})`}`;
}
