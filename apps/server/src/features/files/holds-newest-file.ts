import { Fault } from "../../kernel/errors.ts";
import type { FilesDeps } from "./files-deps.ts";
import { findNewestKey } from "./store.ts";

/** Whether the file that was stored last is in the store: if not, the store may be another one than it was. */
export async function holdsNewestFile({ database, blobs }: Pick<FilesDeps, "database" | "blobs">): Promise<boolean> {
  const key = await findNewestKey(database.sql);
  if (key === undefined) return true;
  const info = await blobs.stat(key).catch((error: unknown) => {
    // One that is there and damaged is no reason to refuse a start.
    if (error instanceof Fault) throw error;
  });
  return info !== undefined;
}
