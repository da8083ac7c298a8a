import type { Database } from "../../engines/database/database.ts";
import { foldWallets, insertDays, lockSums, lockUpkeep, selectFirstOpenDay, selectNow } from "./upkeep-store.ts";

const dayMs = 86_400_000;
/** A clock that is set back a little after midnight does not reach into a closed day. */
const graceMs = 3_600_000;
const daysAtOnce = 31;
const upkeepDeadlineMs = 15 * 60_000;

/** Sums every day that is over. Rows that are folded later are added to their day by the fold. */
export async function closeUsageDays(database: Database): Promise<void> {
  const now = await selectNow(database.sql);
  const target = new Date(Math.floor((now.getTime() - graceMs) / dayMs) * dayMs);
  await foldWallets(database.sql);
  for (let done = false; !done; ) {
    done = await database.transaction(
      async (tx) => {
        await lockUpkeep(tx);
        await lockSums(tx);
        const from = await selectFirstOpenDay(tx);
        if (!from || from >= target) return true;
        await insertDays(tx, from, new Date(Math.min(from.getTime() + daysAtOnce * dayMs, target.getTime())));
        return false;
      },
      { deadlineMs: upkeepDeadlineMs },
    );
  }
}
