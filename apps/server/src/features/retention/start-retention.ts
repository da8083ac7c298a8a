import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database, Sql } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import {
  deleteAccessTokens,
  deleteFullBuckets,
  deleteKeyDays,
  deletePasswordResets,
  deleteRetiredPairs,
  deleteSignInLinks,
  revokeEndedSessions,
} from "../accounts/index.ts";
import { deleteOldRecords } from "../audit/index.ts";
import type { Batches } from "../batches/index.ts";
import { deleteOldConnections, deleteUnusedClients, revokeLapsedConnections } from "../connected-apps/index.ts";
import type { Files } from "../files/index.ts";
import { deleteDeletedMarks } from "../history/index.ts";
import { deleteNotices } from "../notices/index.ts";
import { deleteForgottenInputs, deleteIdempotencyKeys, deleteOldResults } from "../predictions/index.ts";
import { deleteOldResponses } from "../responses/index.ts";
import { deleteOldRuns, deleteOldThreads } from "../runs/index.ts";
import { deleteOldSamples } from "../series/index.ts";
import { deleteOldDeliveries } from "../triggers/index.ts";
import type { TrustedClock } from "../trusted-clock/index.ts";
import { deleteDeliveries, deleteEndedSecrets } from "../webhooks/index.ts";

export interface RetentionDeps {
  database: Database;
  blobs: BlobStore;
  files: Files;
  batches: Pick<Batches, "deleteOld">;
  log: Log;
  clock: TrustedClock;
  /** Days to keep results, output files, stored responses and agent runs after they ended. */
  resultDays: number;
  /** Days to keep a thread with its runs after the last one ended. */
  threadDays: number;
  /** Days to keep uploaded files; 0: until their owner deletes them. */
  uploadDays: number;
  /** Days to keep webhook delivery records. */
  deliveryDays: number;
  /** Days to keep audit records; 0: forever. */
  auditDays: number;
}

export interface Retention {
  /** Runs one pass now. Passes also run every hour. */
  pass(): Promise<void>;
  stop(): Promise<void>;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Delayed, so that it does not slow the start down, and random, so that nodes do not start together. */
const firstPassMs = 60_000;
const batch = 1000;

interface Task {
  name: string;
  everyMs: number;
  /** Handles one batch. */
  step(now: number): Promise<{ dropped: number; more: boolean }>;
}

type DeleteSome = (sql: Sql, before: Date, limit: number) => Promise<number>;

/**
 * Deletes expired data. Any number of nodes may run it at once: each task works in small batches, and a task that fails
 * is logged and retried after an hour. Age is judged by the trusted clock of the database, so that a wrong clock deletes
 * nothing.
 */
export function startRetention(deps: RetentionDeps): Retention {
  const { database, blobs, files, batches, log, clock, resultDays, threadDays, uploadDays, deliveryDays, auditDays } =
    deps;
  const ago = (now: number, days: number) => new Date(now - days * dayMs);
  const rows = (name: string, days: number, deleteSome: DeleteSome): Task => ({
    name,
    everyMs: hourMs,
    async step(now) {
      const dropped = await deleteSome(database.sql, ago(now, days), batch);
      return { dropped, more: dropped === batch };
    },
  });
  const uploads: Task = {
    name: "uploads",
    everyMs: hourMs,
    step: (now) => files.dropOldUploads(ago(now, uploadDays)),
  };

  const auditLog: Task = {
    name: "audit records",
    everyMs: hourMs,
    async step(now) {
      const dropped = await deleteOldRecords(database, ago(now, auditDays), batch);
      return { dropped, more: dropped === batch };
    },
  };

  let runsAfter = "";
  const tasks: Task[] = [
    {
      name: "results",
      everyMs: hourMs,
      step: (now) => deleteOldResults({ database, blobs }, ago(now, resultDays)),
    },
    {
      name: "runs",
      everyMs: hourMs,
      async step(now) {
        const { after, ...step } = await deleteOldRuns(database, ago(now, resultDays), runsAfter);
        runsAfter = step.more ? after : "";
        return step;
      },
    },
    {
      name: "threads",
      everyMs: hourMs,
      step: (now) => deleteOldThreads(database, ago(now, threadDays)),
    },
    {
      name: "batches",
      everyMs: hourMs,
      step: (now) => batches.deleteOld(ago(now, resultDays)),
    },
    rows("responses", resultDays, deleteOldResponses),
    rows("deleted predictions", resultDays, deleteDeletedMarks),
    rows("deliveries", deliveryDays, deleteDeliveries),
    rows("notices", deliveryDays, deleteNotices),
    // Senders repeat a delivery for days: a repeat must be recognised.
    rows("trigger deliveries", Math.max(deliveryDays, 7), deleteOldDeliveries),
    rows("idempotency keys", 1, deleteIdempotencyKeys),
    rows("retired key pairs", 1, deleteRetiredPairs),
    rows("days of keys", 32, deleteKeyDays),
    rows("sign-in links", 1, deleteSignInLinks),
    rows("password reset links", 1, deletePasswordResets),
    rows("sign-in attempts", 1, deleteFullBuckets),
    rows("ended sessions", 90, revokeEndedSessions),
    rows("access tokens", 1, deleteAccessTokens),
    rows("lapsed connections", 1, revokeLapsedConnections),
    rows("old connections", 90, deleteOldConnections),
    rows("unused clients", 1, deleteUnusedClients),
    rows("webhook secrets", 1, deleteEndedSecrets),
    rows("samples of the load", 30, deleteOldSamples),
    {
      name: "abandoned uploads",
      everyMs: hourMs,
      async step(now) {
        const { looked, dropped } = await files.sweepAbandonedFiles(new Date(now), log);
        return { dropped, more: looked > 0 };
      },
    },
    ...(uploadDays > 0 ? [uploads] : []),
    ...(auditDays > 0 ? [auditLog] : []),
    {
      name: "deleted files",
      everyMs: hourMs,
      step: (now) => files.collectDeletedFiles(new Date(now)),
    },
    {
      name: "forgotten inputs",
      everyMs: dayMs, // lists every stored input file
      step: async (now) => ({ dropped: await deleteForgottenInputs({ database, blobs }, ago(now, 1)), more: false }),
    },
  ];
  /** Monotonic time of the last completed pass, by task. */
  const doneAt = new Map<string, number>();
  let stopped = false;

  async function run({ name, step }: Task, now: number): Promise<void> {
    const beganAt = performance.now();
    let total = 0;
    try {
      for (let more = true; more && !stopped; ) {
        const { dropped, more: again } = await step(now);
        total += dropped;
        more = again;
      }
      doneAt.set(name, beganAt);
    } catch (error) {
      log.warn({ err: error, task: name }, "Failed to delete expired data. Trying again in an hour.");
    }
    if (total > 0) log.info({ task: name, count: total }, "Deleted expired data");
  }

  async function pass(): Promise<void> {
    const time = await clock.read().catch((error: unknown) => {
      log.warn({ err: error }, "Failed to read the time, so no expired data is deleted. Trying again in an hour.");
    });
    if (!time?.isTrusted) return;
    for (const task of tasks) {
      // Half an hour less, or a task would miss every other pass by a few milliseconds.
      const sinceMs = performance.now() - (doneAt.get(task.name) ?? Number.NEGATIVE_INFINITY);
      if (sinceMs > task.everyMs - hourMs / 2 && !stopped) await run(task, time.now.getTime());
    }
  }

  let latest: Promise<void> = Promise.resolve();
  const next = () => {
    latest = latest.then(pass);
  };
  const first = setTimeout(next, firstPassMs * (1 + Math.random()));
  const timer = setInterval(next, hourMs);
  first.unref();
  timer.unref();

  return {
    pass,
    async stop() {
      stopped = true;
      clearTimeout(first);
      clearInterval(timer);
      await latest;
    },
  };
}
