import type { BlobInfo } from "../../engines/blobs/blobs.ts";
import { fault } from "../../kernel/errors.ts";
import type { FilesDeps } from "./files-deps.ts";
import { keepArrival } from "./keep-arrival.ts";
import { findLinkTarget } from "./store.ts";

/** What the holder of an upload link may bring; undefined when the link's file was given up. */
export async function findUploadTarget(
  { database }: FilesDeps,
  key: string,
): Promise<{ maxBytes: number; contentType: string | undefined } | undefined> {
  const target = await findLinkTarget(database.sql, key);
  return target && { maxBytes: target.maxBytes, contentType: target.declaredType ?? undefined };
}

/** The bytes of an upload link have arrived at the embedded store. */
export async function recordUpload(deps: FilesDeps, key: string, info: BlobInfo): Promise<void> {
  if (await keepArrival(deps, { key, origin: "link" }, { ...info, now: deps.clock.now() })) return;
  await deps.blobs.delete(key);
  throw fault("not_found", "File not found");
}
