import type { Database } from "../../engines/database/database.ts";
import {
  insertDays,
  limitTableLocks,
  lockUpkeep,
  selectFirstOpenDay,
  selectNow,
  waitForWriters,
} from "./upkeep-store.ts";

const dayMs = 86_400_000;
/** So long after midnight a day is closed: a clock that is set back a little does not reach into it. */
const graceMs = 3_600_000;
const daysAtOnce = 31;
const tableLockMs = 2_000;
const upkeepDeadlineMs = 15 * 60_000;

/**
 * Sums every day that is over. A row's time is read from the clock after its writer has got hold of usage_hours, so once
 * the clock is past midnight and those who were writing have ended, nothing is added to the day before.
 */
export async function closeUsageDays(database: Database): Promise<void> {
  const now = await selectNow(database.sql);
  const target = new Date(Math.floor((now.getTime() - graceMs) / dayMs) * dayMs);
  const firstOpen = await selectFirstOpenDay(database.sql);
  if (!firstOpen || firstOpen >= target) return;
  await database.transaction(async (tx) => {
    await limitTableLocks(tx, tableLockMs);
    await waitForWriters(tx);
  });
  for (let done = false; !done; ) {
    done = await database.transaction(
      async (tx) => {
        await lockUpkeep(tx);
        const from = await selectFirstOpenDay(tx);
        if (!from || from >= target) return true;
        await insertDays(tx, from, new Date(Math.min(from.getTime() + daysAtOnce * dayMs, target.getTime())));
        return false;
      },
      { deadlineMs: upkeepDeadlineMs },
    );
  }
}
