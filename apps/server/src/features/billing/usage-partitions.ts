import type { Database } from "../../engines/database/database.ts";
import { monthOf, monthOfTable, monthsBetween } from "./time.rules.ts";
import {
  createPartition,
  deleteDefaultBefore,
  dropPartition,
  foldWallets,
  limitTableLocks,
  lockUpkeep,
  moveHorizon,
  postCharges,
  sealUsage,
  selectNow,
  selectPartitions,
  upkeepDeadlineMs,
} from "./upkeep-store.ts";

const monthsAhead = 2;
const tableLockMs = 3_000;
const deletedAtOnce = 10_000;

/**
 * Creates missing partitions from the month of `first` (default: the current month) to two months ahead. Any number of nodes
 * may call it at once. Returns the created tables.
 */
export async function ensureUsagePartitions(database: Database, first?: Date): Promise<string[]> {
  const now = await selectNow(database.sql);
  const wanted = monthsBetween(first ?? now, monthOf(now, monthsAhead).from);
  const missing = async (sql: Parameters<typeof selectPartitions>[0]) => {
    const present = new Set(await selectPartitions(sql));
    return wanted.filter((month) => !present.has(month.table));
  };
  if ((await missing(database.sql)).length === 0) return [];
  return database.transaction(
    async (tx) => {
      await lockUpkeep(tx);
      await limitTableLocks(tx, tableLockMs);
      const created = await missing(tx);
      for (const month of created) await createPartition(tx, month);
      return created.map((month) => month.table);
    },
    { deadlineMs: upkeepDeadlineMs },
  );
}

/**
 * Drops the rows of all months that ended by `before`. Their sums remain, and their charges are posted to the ledger. The
 * horizon moves first, so that no list refers to dropped rows. Returns the dropped tables.
 */
export async function dropUsageBefore(database: Database, before: Date): Promise<string[]> {
  const now = await selectNow(database.sql);
  const horizon = monthOf(before < now ? before : now).from;
  await foldWallets(database.sql);
  await sealUsage(database.sql, horizon);
  await database.transaction(
    async (tx) => {
      await lockUpkeep(tx);
      await postCharges(tx, horizon);
      await moveHorizon(tx, horizon);
    },
    { deadlineMs: upkeepDeadlineMs },
  );
  const dropped = await database.transaction(async (tx) => {
    await lockUpkeep(tx);
    await limitTableLocks(tx, tableLockMs);
    const old = (await selectPartitions(tx)).filter((table) => {
      const month = monthOfTable(table);
      return month && month.to <= horizon;
    });
    for (const table of old) await dropPartition(tx, table);
    return old;
  });
  while ((await deleteDefaultBefore(database.sql, horizon, deletedAtOnce)) === deletedAtOnce);
  return dropped;
}
