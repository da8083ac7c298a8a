import type { FilesDeps } from "./files-deps.ts";
import { forgetDeleted, listDueDeleted } from "./store.ts";

const batch = 200;

/**
 * Throws away the bytes of deleted files that are still there: a process died, the store was away, or a link brought them
 * once more. Called now and then, by any number of nodes. Answers how many it looked at; fewer than a batch were all.
 */
export async function collectDeletedFiles({ database, blobs }: FilesDeps, now: Date) {
  const keys = await listDueDeleted(database.sql, now, batch);
  for (const key of keys) {
    await blobs.delete(key);
    await forgetDeleted(database.sql, [key]);
  }
  return { dropped: keys.length, more: keys.length === batch };
}
