import type { Scope } from "../accounts/index.ts";
import type { FilesDeps } from "./files-deps.ts";
import { formatS3Path } from "./s3-path.rules.ts";
import { countFiles, type FileEntry, selectFiles } from "./store.ts";

export interface ListedFile extends Omit<FileEntry, "key"> {
  s3Path: string;
}

/** What the caller uploaded and what its predictions made, newest first. */
export async function listFiles(
  { database, blobs: { bucket } }: FilesDeps,
  scope: Scope,
  range: { limit: number; offset: number },
): Promise<{ entries: ListedFile[]; total: number }> {
  const [rows, total] = await Promise.all([selectFiles(database.sql, scope, range), countFiles(database.sql, scope)]);
  return { entries: rows.map(({ key, ...row }) => ({ ...row, s3Path: formatS3Path({ bucket, key }) })), total };
}
