import type { Database } from "../../engines/database/database.ts";
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
} from "./upkeep-store.ts";

/** A month of UTC and the partition of `usage` that holds it. */
export interface UsageMonth {
  table: string;
  /** Its first moment, and that of the month after it. */
  from: Date;
  to: Date;
}

const tableForm = /^usage_(\d{4})_(\d\d)$/;

export function monthOf(time: Date, monthsLater = 0): UsageMonth {
  const from = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + monthsLater));
  const to = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + monthsLater + 1));
  return { table: `usage_${from.toISOString().slice(0, 7).replace("-", "_")}`, from, to };
}

/** Undefined for a table that holds no month, as the default partition. */
export function monthOfTable(table: string): UsageMonth | undefined {
  const match = tableForm.exec(table);
  return match ? monthOf(new Date(Date.UTC(Number(match[1]), Number(match[2]) - 1))) : undefined;
}

/** From the month of one time to that of another, both among them. */
export function monthsBetween(first: Date, last: Date): UsageMonth[] {
  const months: UsageMonth[] = [];
  for (let month = monthOf(first); month.from <= last; month = monthOf(month.to)) months.push(month);
  return months;
}

const monthsAhead = 2;
const tableLockMs = 3_000;
const upkeepDeadlineMs = 15 * 60_000;
const deletedAtOnce = 10_000;

/**
 * Gives every month from that of `first` (this one, when not given) to the second after this one a partition. What is
 * there stays; any number of nodes may do it at once. Answers the tables that were made.
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
      const made = await missing(tx);
      for (const month of made) await createPartition(tx, month);
      return made.map((month) => month.table);
    },
    { deadlineMs: upkeepDeadlineMs },
  );
}

/**
 * Drops the single rows of all months that ended by `before`. Their sums stay, and the ledger gets their charges. The
 * horizon moves before the rows go: from then on no list promises them. Answers the tables that are gone.
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
