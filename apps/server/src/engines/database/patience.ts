import { setTimeout as sleep } from "node:timers/promises";
import type { Database, Sql } from "./database.ts";
import { migrationLock, whoBlocks, whoHoldsSchema } from "./lock-holders.ts";
import { codeOf } from "./unavailable.ts";

/** How whoever changes the schema, or needs it to stay, waits for others. */
export interface Patience {
  /** Told what is waited for: soon, and now and then as long as it lasts. */
  tell?: ((text: string) => void) | undefined;
  /** Ends the waiting, and the work too. */
  signal?: AbortSignal | undefined;
}

export const longestWaitMs = 15 * 60_000;
const tellAgainMs = 30_000;
const lookMs = 500;
const cancelAgainMs = 100;
const tryLockMs = 200;
const pauseMs = 3_000;
/** In this time nobody can use a table that a migration waits for: less than any query has, so nobody is refused. */
const lockTimeoutMs = 2_000;

const functionOf = {
  exclusive: "pg_try_advisory_xact_lock",
  shared: "pg_try_advisory_xact_lock_shared",
  "exclusive until the session ends": "pg_try_advisory_lock",
} as const;

/**
 * Taken by whoever migrates, and shared by those who need the schema to stay. It is tried again and again, since a query
 * that waits keeps its snapshot, and whoever holds the lock may be building an index that waits for all of those.
 */
export async function lockSchema(sql: Sql, how: keyof typeof functionOf, patience: Patience): Promise<void> {
  const until = performance.now() + longestWaitMs;
  const tell = nowAndThen(patience);
  for (;;) {
    patience.signal?.throwIfAborted();
    const [row] = await sql.unsafe<{ taken: boolean }[]>(`select ${functionOf[how]}(${migrationLock}) as taken`);
    if (row?.taken) return;
    const holder = (await whoHoldsSchema(sql)) ?? "somebody";
    const text = `another program migrates this database or backs it up: ${holder}`;
    if (performance.now() > until) throw new Error(`Waited ${longestWaitMs / 60_000} minutes in vain: ${text}`);
    tell(`Waiting, since ${text}`);
    await sleep(tryLockMs, undefined, { signal: patience.signal });
  }
}

/**
 * Nobody migrates while `work` goes on. The lock has a transaction of its own: a snapshot that the work takes must be
 * younger than it.
 */
export function whileSchemaStays<T>(database: Database, patience: Patience, work: () => Promise<T>): Promise<T> {
  return database.transaction(async (tx) => {
    await tx`set local idle_in_transaction_session_timeout = 0`;
    await lockSchema(tx, "shared", patience);
    return work();
  });
}

/** For the rest of the transaction: whoever does not get a lock soon steps aside, and lets pass who queued up behind. */
export async function stepAside(tx: Sql): Promise<void> {
  await tx.unsafe(`set local lock_timeout = ${lockTimeoutMs}`);
}

/** Tries again, after a pause, what stepped aside. */
export async function untilLocked<T>(what: string, patience: Patience, attempt: () => Promise<T>): Promise<T> {
  const until = performance.now() + longestWaitMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      patience.signal?.throwIfAborted();
      if (!foundNoLock(error)) throw error;
      if (performance.now() > until)
        throw new Error(`${what} found what it changes in use for ${longestWaitMs / 60_000} minutes`, { cause: error });
    }
    await sleep(pauseMs, undefined, { signal: patience.signal });
  }
}

/** Given up for the lock of another, by us or because both waited for each other. */
const foundNoLock = (error: unknown): boolean => ["55P03", "40P01"].includes(codeOf(error));

/**
 * While `work` runs on the backend of `own`: says who is in its way, and has it stopped by the server when the signal
 * comes, so that nothing of it stays behind in a queue.
 */
export async function watched<T>(
  database: Database,
  own: Sql,
  tell: (holder: string) => void,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const [backend] = await own<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const pid = backend?.pid ?? 0;
  let isOver = false;
  let cancelling: Promise<void> | undefined;

  async function lookAround(): Promise<void> {
    for (;;) {
      await sleep(lookMs, undefined, { ref: false });
      if (isOver || signal?.aborted) return;
      const holder = await whoBlocks(database.sql, pid).catch(() => undefined);
      if (holder !== undefined && !isOver) tell(holder);
    }
  }

  async function stopIt(): Promise<void> {
    // Between two statements there is nothing to stop.
    while (!isOver) {
      await database.sql`select pg_cancel_backend(${pid}::int)`.catch(() => undefined);
      await sleep(cancelAgainMs);
    }
  }

  const onAbort = (): void => {
    cancelling = stopIt();
  };
  signal?.throwIfAborted();
  signal?.addEventListener("abort", onAbort, { once: true });
  void lookAround();
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    isOver = true;
    signal?.removeEventListener("abort", onAbort);
    await cancelling; // one that comes late would meet whoever has the backend next
  }
}

/** Of many calls the first, and later one now and then. */
export function nowAndThen({ tell }: Patience): (text: string) => void {
  let next = 0;
  return (text) => {
    if (performance.now() < next) return;
    next = performance.now() + tellAgainMs;
    tell?.(text);
  };
}
