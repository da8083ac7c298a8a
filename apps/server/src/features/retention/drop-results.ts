import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database } from "../../engines/database/database.ts";
import { deleteResults, lockOldResults, selectOutputKeys } from "./store.ts";
import { firstIdAt } from "./time-of-id.rules.ts";

/** Few, because their files are deleted while their rows are locked. */
const atOnce = 50;
const deletedTogether = 8;

/**
 * Forgets some results that ended before a moment, with the files they made. The files go first: whatever fails leaves
 * the rows, and the next pass finds them again. Answers how many results went; fewer than `atOnce` were all.
 */
export async function dropSomeResults(
  { database, blobs }: { database: Database; blobs: BlobStore },
  endedBefore: Date,
): Promise<{ dropped: number; more: boolean }> {
  return database.transaction(async (tx) => {
    const firstIdAfter = firstIdAt("pred", endedBefore);
    const ids = await lockOldResults(tx, { endedBefore, firstIdAfter, limit: atOnce });
    if (ids.length === 0) return { dropped: 0, more: false };
    const keys = await selectOutputKeys(tx, ids);
    for (let at = 0; at < keys.length; at += deletedTogether) {
      await Promise.all(keys.slice(at, at + deletedTogether).map((key) => blobs.delete(key)));
    }
    await deleteResults(tx, ids);
    return { dropped: ids.length, more: ids.length === atOnce };
  });
}
