import type { FilesDeps } from "./files-deps.ts";
import { formatS3Path } from "./s3-path.rules.ts";
import { countFiles, type FileEntry, selectFiles } from "./store.ts";

export interface ListedFile extends Omit<FileEntry, "key"> {
  s3Path: string;
}

/** Everything that is the owner's, uploaded or made by predictions, newest first. */
export async function listFiles(
  { database, blobs: { bucket } }: FilesDeps,
  ownerId: string,
  range: { limit: number; offset: number },
): Promise<{ entries: ListedFile[]; total: number }> {
  const [rows, total] = await Promise.all([
    selectFiles(database.sql, ownerId, range),
    countFiles(database.sql, ownerId),
  ]);
  return { entries: rows.map(({ key, ...row }) => ({ ...row, s3Path: formatS3Path({ bucket, key }) })), total };
}
