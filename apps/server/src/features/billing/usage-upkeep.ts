import type { Database } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import type { TrustedClock } from "../trusted-clock/index.ts";
import {
  foldWallets,
  insertDays,
  lockSums,
  lockUpkeep,
  selectFirstOpenDay,
  selectNow,
  takeBackHorizon,
} from "./upkeep-store.ts";
import { dropUsageBefore, ensureUsagePartitions } from "./usage-partitions.ts";

const everyMs = 30 * 60_000;
const dayMs = 86_400_000;
const upkeepDeadlineMs = 15 * 60_000;

export interface UsageUpkeep {
  /** One pass now; passes go on every half hour by themselves. */
  pass(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Keeps usage fast as it grows: partitions ahead of time, sums by hour of all users, sums of the days that are over, and,
 * where the operator wants it, no single rows of months that are older than `retentionDays`. Nothing depends on a pass having taken place: rows
 * without a partition go to the default one, and days without sums are read from their hours. So a pass that fails is
 * logged and the next one tries again, and while the clock is not trusted nothing is closed or dropped.
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

  async function attempt(task: string, work: () => Promise<unknown>): Promise<void> {
    if (stopped) return;
    await work().catch((error: unknown) => log.warn({ err: error, task }, "Upkeep of usage failed, it is tried again"));
  }

  async function pass(): Promise<void> {
    await attempt("partitions", () => ensureUsagePartitions(database));
    await attempt("marks", async () => {
      const { now, isTrusted } = await clock.read();
      if (!isTrusted) return;
      await database.transaction(
        async (tx) => {
          await lockUpkeep(tx);
          await takeBackHorizon(tx, now);
        },
        { deadlineMs: upkeepDeadlineMs },
      );
      await attempt("days", () => closeUsageDays(database));
      if (retentionDays !== undefined) await attempt("retention", () => dropOldUsage(now, retentionDays));
    });
  }

  async function dropOldUsage(now: Date, days: number): Promise<void> {
    const dropped = await dropUsageBefore(database, new Date(now.getTime() - days * dayMs));
    if (dropped.length > 0) log.info({ tables: dropped }, "Usage past its retention was dropped, its sums are kept");
  }

  let latest: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    latest = latest.then(pass);
  }, everyMs);
  await pass();

  return {
    pass,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await latest;
    },
  };
}

/** A clock that is set back a little after midnight does not reach into a closed day. */
const graceMs = 3_600_000;
const daysAtOnce = 31;

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
