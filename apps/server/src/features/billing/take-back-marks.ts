import type { Database } from "../../engines/database/database.ts";
import { lockUpkeep, reopenDays, takeBackHorizon } from "./upkeep-store.ts";

const dayMs = 86_400_000;
const upkeepDeadlineMs = 15 * 60_000;

/**
 * Marks that lie after now were set by a clock that stood ahead. Days that are not over are opened again, and the horizon
 * goes back to where single rows are really kept from.
 */
export async function takeBackMarks(database: Database, now: Date): Promise<void> {
  await database.transaction(
    async (tx) => {
      await lockUpkeep(tx);
      await reopenDays(tx, new Date(Math.floor(now.getTime() / dayMs) * dayMs));
      await takeBackHorizon(tx, now);
    },
    { deadlineMs: upkeepDeadlineMs },
  );
}
