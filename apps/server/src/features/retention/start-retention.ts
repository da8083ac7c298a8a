import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import { collectDeletedFiles, dropOldUploads, type FilesDeps, sweepAbandonedFiles } from "../files/index.ts";
import type { TrustedClock } from "../trusted-clock/index.ts";
import { dropDeliveriesBefore } from "../webhooks/index.ts";
import { dropForgottenInputs } from "./drop-forgotten-inputs.ts";
import { dropSomeResults } from "./drop-results.ts";
import { dropSomeRuns } from "./drop-runs.ts";
import {
  deleteEndedSecrets,
  deleteIdempotencyKeys,
  deleteRetiredPairs,
  deleteSignInLinks,
  revokeEndedSessions,
} from "./store.ts";

export interface RetentionDeps {
  database: Database;
  blobs: BlobStore;
  files: FilesDeps;
  log: Log;
  clock: TrustedClock;
  /** How long results, the files that predictions made, and runs of agents are kept after the end. */
  resultDays: number;
  /** How long uploaded files are kept; 0: until their owner deletes them. */
  uploadDays: number;
  /** How long it is kept that a webhook was sent. */
  deliveryDays: number;
}

export interface Retention {
  /** One pass now; passes go on every hour by themselves. */
  pass(): Promise<void>;
  stop(): Promise<void>;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Not at once: a start has better things to do, and nodes that start together need not do it together. */
const firstPassMs = 60_000;
const atOnce = 1000;

interface Task {
  name: string;
  everyMs: number;
  /** Does a part, and answers how much it did and whether there is more. */
  step(now: number): Promise<{ dropped: number; more: boolean }>;
}

/**
 * Lets go of what nobody may ask for any more. Nothing depends on a pass having taken place, and any number of nodes may
 * do it at once: each task takes small portions, and one that fails is logged and tried again an hour later. What is old
 * is judged by the database's clock, so that a process whose own is wrong deletes nothing of the others.
 */
export function startRetention(deps: RetentionDeps): Retention {
  const { database, blobs, files, log, clock, resultDays, uploadDays, deliveryDays } = deps;
  const { sql } = database;
  const ago = (now: number, ms: number) => new Date(now - ms);
  const portion = async (work: Promise<number>) => {
    const dropped = await work;
    return { dropped, more: dropped === atOnce };
  };
  const whole = async (work: Promise<number>) => ({ dropped: await work, more: false });

  const tasks: Task[] = [
    {
      name: "results",
      everyMs: hourMs,
      step: (now) => dropSomeResults({ database, blobs }, ago(now, resultDays * dayMs)),
    },
    {
      name: "runs",
      everyMs: hourMs,
      step: (now) => dropSomeRuns(database, ago(now, resultDays * dayMs)),
    },
    {
      name: "deliveries",
      everyMs: hourMs,
      step: (now) => whole(dropDeliveriesBefore(sql, ago(now, deliveryDays * dayMs))),
    },
    {
      name: "idempotency keys",
      everyMs: hourMs,
      step: (now) => portion(deleteIdempotencyKeys(sql, ago(now, dayMs), atOnce)),
    },
    {
      name: "retired key pairs",
      everyMs: hourMs,
      step: (now) => portion(deleteRetiredPairs(sql, ago(now, dayMs), atOnce)),
    },
    {
      name: "sign-in links",
      everyMs: hourMs,
      step: (now) => portion(deleteSignInLinks(sql, ago(now, dayMs), atOnce)),
    },
    {
      name: "ended sessions",
      everyMs: hourMs,
      step: (now) => portion(revokeEndedSessions(sql, ago(now, 90 * dayMs), atOnce)),
    },
    {
      name: "webhook secrets",
      everyMs: hourMs,
      step: (now) => portion(deleteEndedSecrets(sql, ago(now, dayMs), atOnce)),
    },
    {
      name: "abandoned uploads",
      everyMs: hourMs,
      step: async (now) => {
        const { looked, dropped } = await sweepAbandonedFiles(files, new Date(now), log);
        return { dropped, more: looked > 0 };
      },
    },
    {
      name: "uploads",
      everyMs: hourMs,
      step: async (now) =>
        uploadDays === 0 ? { dropped: 0, more: false } : dropOldUploads(files, ago(now, uploadDays * dayMs)),
    },
    {
      name: "deleted files",
      everyMs: hourMs,
      step: (now) => collectDeletedFiles(files, new Date(now)),
    },
    {
      name: "forgotten inputs",
      everyMs: dayMs, // looks at every stored file
      step: (now) => whole(dropForgottenInputs({ database, blobs }, ago(now, dayMs))),
    },
  ];
  /** By this process's own time: when the database's is set back, what is due does not wait for it. */
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
      log.warn({ err: error, task: name }, "Letting go of old data failed, it is tried again in an hour");
    }
    if (total > 0) log.info({ task: name, count: total }, "Old data was let go of");
  }

  async function pass(): Promise<void> {
    const time = await clock.read().catch((error: unknown) => {
      log.warn({ err: error }, "The time could not be read, old data is let go of in an hour");
    });
    if (!time?.isTrusted) return;
    for (const task of tasks) {
      // A little less, or a task would miss every other pass by a few milliseconds.
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
