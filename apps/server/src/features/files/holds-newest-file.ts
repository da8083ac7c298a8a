import type { FilesDeps } from "./files-deps.ts";
import { findNewestKey } from "./store.ts";

/** Whether the file that was stored last is in the store: if not, the store may be another one than it was. */
export async function holdsNewestFile({ database, blobs }: Pick<FilesDeps, "database" | "blobs">): Promise<boolean> {
  const key = await findNewestKey(database.sql);
  return key === undefined || (await blobs.stat(key)) !== undefined;
}
