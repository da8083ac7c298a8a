import type { Config } from "../config/config.ts";
import type { BlobStore } from "../engines/blobs/blobs.ts";
import type { Files } from "../features/files/index.ts";
import type { Log } from "../kernel/log.ts";

/** Warns if the file store is not the one of this database. An embedded database is always beside its files. */
export async function checkFileStore(
  { DATABASE_URL, GANTRY_HOME: home }: Pick<Config, "DATABASE_URL" | "GANTRY_HOME">,
  { files, blobs, isOwn }: { files: Pick<Files, "holdsNewestFile">; blobs: BlobStore; isOwn: boolean },
  log: Log,
): Promise<void> {
  if ((isOwn && DATABASE_URL === undefined) || (await files.holdsNewestFile())) return;
  log.warn(
    isOwn ? { home } : { bucket: blobs.bucket },
    "The newest file in the database is not in the file store. Check that it is the right file store.",
  );
}
