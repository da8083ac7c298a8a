import type { BlobInfo } from "../../engines/blobs/blobs.ts";
import { fault } from "../../kernel/errors.ts";
import type { FilesDeps } from "./files-deps.ts";
import { keepArrival, refuseBeyondQuota } from "./keep-arrival.ts";
import { findLinkTarget } from "./store.ts";

/**
 * What the holder of an upload link may bring; undefined when the link's file was given up. Where it is known how much
 * that is, too much for its owner is refused here: once the bytes have come, those that were there are gone.
 */
export async function findUploadTarget(
  deps: FilesDeps,
  key: string,
  bytes: number | undefined,
): Promise<{ maxBytes: number; contentType: string | undefined } | undefined> {
  const target = await findLinkTarget(deps.database.sql, key);
  if (target && bytes !== undefined) await refuseBeyondQuota(deps, target.ownerId, bytes, target.presentBytes);
  return target && { maxBytes: target.maxBytes, contentType: target.declaredType ?? undefined };
}

/** The bytes of an upload link have arrived at the embedded store. */
export async function recordUpload(deps: FilesDeps, key: string, info: BlobInfo): Promise<void> {
  if (await keepArrival(deps, { key, origin: "link" }, { ...info, now: deps.clock.now() })) return;
  await deps.blobs.delete(key);
  throw fault("not_found", "File not found");
}
