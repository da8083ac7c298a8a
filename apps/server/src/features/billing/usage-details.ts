import type { Database } from "../../engines/database/database.ts";
import { sleep } from "../../kernel/sleep.ts";
import {
  detailDays,
  detailHours,
  lockSums,
  lockUpkeep,
  moveDetailedFrom,
  selectDaysToDetail,
  selectDayToDetail,
  selectUsersToDetail,
  upkeepDeadlineMs,
} from "./upkeep-store.ts";

const dayMs = 86_400_000;
const pauseMs = 20;

/**
 * Completes sums from before charts existed, newest day first: a chart shows what it has, and the rest as unknown. Each day
 * is finished before the next begins, so that a restart continues where it stopped. Several nodes may do the same day: the
 * result is the same.
 */
export async function detailUsage(database: Database, isStopped: () => boolean): Promise<void> {
  const { sql } = database;
  for (let day = await selectDayToDetail(sql); day && !isStopped(); day = await selectDayToDetail(sql)) {
    const { from, to } = day;
    for (const userId of await selectUsersToDetail(sql, from, to)) {
      if (isStopped()) return;
      await database.transaction((tx) => detailHours(tx, userId, from, to), { deadlineMs: upkeepDeadlineMs });
    }
    await sumDays(database, from, to);
    await moveDetailedFrom(sql, from);
    // Leaves the database to requests.
    await sleep(pauseMs);
  }
  for (const day of await selectDaysToDetail(sql)) {
    await sumDays(database, day, new Date(day.getTime() + dayMs));
  }
}

async function sumDays(database: Database, from: Date, to: Date): Promise<void> {
  await database.transaction(
    async (tx) => {
      await lockUpkeep(tx);
      await lockSums(tx);
      await detailDays(tx, from, to);
    },
    { deadlineMs: upkeepDeadlineMs },
  );
}
