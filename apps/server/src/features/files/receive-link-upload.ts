import type { BlobInfo } from "../../engines/blobs/blobs.ts";
import { fault } from "../../kernel/errors.ts";
import type { FilesDeps } from "./files-deps.ts";
import { findLinkTarget, markStored } from "./store.ts";

/** What the holder of an upload link may bring; undefined when the link's file was given up. */
export async function findUploadTarget(
  { database }: FilesDeps,
  key: string,
): Promise<{ maxBytes: number; contentType: string | undefined } | undefined> {
  const target = await findLinkTarget(database.sql, key);
  return target && { maxBytes: target.maxBytes, contentType: target.declaredType ?? undefined };
}

/** The bytes of an upload link have arrived at the embedded store. */
export async function recordUpload({ database, blobs, clock }: FilesDeps, key: string, info: BlobInfo): Promise<void> {
  if (await markStored(database.sql, key, { ...info, now: clock.now() })) return;
  await blobs.delete(key);
  throw fault("not_found", "File not found");
}
