import type { Database } from "../../engines/database/database.ts";
import { deleteOldRuns } from "./store.ts";
import { firstIdAt } from "./time-of-id.rules.ts";

/** Few, because each may have thousands of events. */
const atOnce = 50;

/** Forgets some runs that ended before a moment, with their steps, events, questions and secrets. */
export async function dropSomeRuns(database: Database, endedBefore: Date): Promise<{ dropped: number; more: boolean }> {
  const firstIdAfter = firstIdAt("run", endedBefore);
  const dropped = await database.transaction((tx) => deleteOldRuns(tx, { endedBefore, firstIdAfter, limit: atOnce }));
  return { dropped, more: dropped === atOnce };
}
