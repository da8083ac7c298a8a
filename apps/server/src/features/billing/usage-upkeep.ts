import type { Database } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import { repeat } from "../../kernel/repeat.ts";
import type { TrustedClock } from "../trusted-clock/index.ts";
import {
  foldWallets,
  insertDays,
  lockSums,
  lockUpkeep,
  selectFirstOpenDay,
  selectNow,
  upkeepDeadlineMs,
} from "./upkeep-store.ts";
import { detailUsage } from "./usage-details.ts";
import { dropUsageBefore, ensureUsagePartitions } from "./usage-partitions.ts";

const everyMs = 30 * 60_000;
const dayMs = 86_400_000;
/** Most rows of a day are folded by then. */
const closeDayAfterMs = 3_600_000;
const daysAtOnce = 31;

export interface UsageUpkeep {
  pass(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Keeps usage fast as it grows, every half hour: creates partitions ahead of time, sums hours and closed days, and drops
 * rows older than `retentionDays`. No reader depends on a pass: rows without a partition go to the default one, and open
 * days are read from their hours. While the clock is not trusted, nothing is closed or dropped.
 */
export async function startUsageUpkeep({
  database,
  log,
  clock,
  retentionDays,
}: {
  database: Database;
  log: Log;
  clock: TrustedClock;
  retentionDays: number | undefined;
}): Promise<UsageUpkeep> {
  let stopped = false;
  const failed = (error: unknown, task?: string) =>
    log.warn({ err: error, task }, "Upkeep of usage failed; the next pass tries again");

  async function attempt(task: string, work: () => Promise<unknown>): Promise<void> {
    if (!stopped) await work().catch((error: unknown) => failed(error, task));
  }

  async function pass(): Promise<void> {
    await attempt("partitions", () => ensureUsagePartitions(database));
    await attempt("clock", async () => {
      const { now, isTrusted } = await clock.read();
      if (!isTrusted) return;
      await attempt("days", () => closeUsageDays(database));
      if (retentionDays !== undefined) await attempt("retention", () => dropOldUsage(now, retentionDays));
    });
  }

  async function dropOldUsage(now: Date, days: number): Promise<void> {
    const dropped = await dropUsageBefore(database, new Date(now.getTime() - days * dayMs));
    if (dropped.length > 0) log.info({ tables: dropped }, "Dropped usage rows past their retention; their sums remain");
  }

  // Takes minutes on the first start after an upgrade, so that no start and no pass waits for it.
  let detailing: Promise<void> | undefined;
  const detail = (): void => {
    detailing ??= attempt("details", () => detailUsage(database, () => stopped)).finally(() => {
      detailing = undefined;
    });
  };

  await pass();
  detail();
  const passes = repeat(
    async () => {
      await pass();
      detail();
    },
    everyMs,
    failed,
  );

  return {
    pass,
    async stop() {
      stopped = true;
      await Promise.all([passes.stop(), detailing]);
    },
  };
}

/** Sums every day that is over. Rows that are folded later are added to their day by the fold. */
export async function closeUsageDays(database: Database): Promise<void> {
  const now = await selectNow(database.sql);
  const target = new Date(Math.floor((now.getTime() - closeDayAfterMs) / dayMs) * dayMs);
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
