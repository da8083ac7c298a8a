import type { Database } from "../../../engines/database/database.ts";
import { deleteRunsWithContent } from "../delete-old-runs.ts";
import { deleteThreadRow, lockDeleting, markExpired, selectRunIds, type ThreadAddress } from "./thread-store.ts";

/** Few, because each may have thousands of events. */
const batch = 50;

/**
 * Deletes some runs of a thread that is marked, and the thread with the last ones. With the runs go stored responses and
 * what their model calls said. Retention completes what a stopped node has left.
 */
export async function deleteSome(
  database: Database,
  only?: ThreadAddress,
): Promise<{ dropped: number; more: boolean }> {
  return database.transaction(async (tx) => {
    const thread = await lockDeleting(tx, only);
    if (!thread) return { dropped: 0, more: false };
    const roots = await selectRunIds(tx, thread, batch);
    await deleteRunsWithContent(tx, thread.userId, roots);
    if (roots.length === batch) return { dropped: 0, more: true };
    await deleteThreadRow(tx, thread);
    return { dropped: 1, more: true };
  });
}

/** Deletes some threads whose last run ended before a moment. */
export async function deleteOldThreads(
  database: Database,
  endedBefore: Date,
): Promise<{ dropped: number; more: boolean }> {
  await database.transaction((tx) => markExpired(tx, endedBefore, batch));
  return deleteSome(database);
}
