import { setTimeout as sleep } from "node:timers/promises";
import type { Database, Sql } from "./database.ts";
import { codeOf } from "./unavailable.ts";

export interface WaitOptions {
  /** Receives the reason for waiting, at first and then periodically. */
  report?: ((text: string) => void) | undefined;
  /** Stops the wait and the work. */
  signal?: AbortSignal | undefined;
}

/** The key of the advisory lock. All nodes must use the same. */
const migrationLock = 7_242_001;
const longestWaitMs = 15 * 60_000;
const reportAgainMs = 30_000;
const blockerCheckMs = 500;
const cancelAgainMs = 100;
const tryLockMs = 200;
const pauseMs = 3_000;
/** A waiting migration blocks all other queries on its table. Must be shorter than the deadline of any query. */
export const lockTimeoutMs = 2_000;

/**
 * Migrations take the lock exclusively; backups, which need the schema unchanged, share it. Never waits inside a query or
 * a transaction: their snapshot would block the holder if it builds an index concurrently. So the lock is polled.
 */
const functionOf = {
  "exclusive until the transaction ends": "pg_try_advisory_xact_lock",
  "exclusive until the session ends": "pg_try_advisory_lock",
  "shared until the session ends": "pg_try_advisory_lock_shared",
} as const;

class SchemaInUse extends Error {}

/** Tries once. */
export async function lockSchema(sql: Sql, how: keyof typeof functionOf): Promise<void> {
  const [row] = await sql.unsafe<{ taken: boolean }[]>(`select ${functionOf[how]}(${migrationLock}) as taken`);
  if (row?.taken) return;
  const holder = (await schemaLockHolders(sql)) ?? "an unknown process";
  throw new SchemaInUse(`another program migrates this database or backs it up: ${holder}`);
}

/** No migration runs during `work`. */
export function whileSchemaStays<T>(database: Database, wait: WaitOptions, work: () => Promise<T>): Promise<T> {
  return database.session(async (sql) => {
    await untilLocked("The schema lock", wait, () => lockSchema(sql, "shared until the session ends"));
    return work();
  });
}

/** Retries a transaction until it gets its locks. Each attempt gives up soon, to let queries that it blocks pass. */
export async function changeSchema<T>(
  database: Database,
  what: string,
  wait: WaitOptions,
  work: (tx: Sql) => Promise<T>,
  deadlineMs = longestWaitMs,
): Promise<T> {
  const { signal } = wait;
  const report = throttled(wait);
  const attempt = (): Promise<T> =>
    database.transaction(
      async (tx) => {
        await lockSchema(tx, "exclusive until the transaction ends");
        await tx.unsafe(`set local lock_timeout = ${lockTimeoutMs}`);
        return watched(
          database,
          tx,
          (holder) => report(`${what} waits for ${holder}`),
          signal,
          () => work(tx),
        );
      },
      { deadlineMs },
    );
  return untilLocked(what, wait, attempt);
}

/** Retries `attempt` after a pause while a lock is not available. */
export async function untilLocked<T>(what: string, wait: WaitOptions, attempt: () => Promise<T>): Promise<T> {
  const until = performance.now() + longestWaitMs;
  const report = throttled(wait);
  for (;;) {
    wait.signal?.throwIfAborted();
    let pause = pauseMs;
    try {
      return await attempt();
    } catch (error) {
      wait.signal?.throwIfAborted();
      if (error instanceof SchemaInUse) {
        report(`Waiting: ${error.message}`);
        pause = tryLockMs;
      } else if (!isLockFailure(error)) throw error;
      if (performance.now() > until)
        throw new Error(`${what} did not get its lock within ${longestWaitMs / 60_000} minutes`, { cause: error });
    }
    await sleep(pause, undefined, { signal: wait.signal });
  }
}

/** Lock timeout or deadlock. */
const isLockFailure = (error: unknown): boolean => ["55P03", "40P01"].includes(codeOf(error));

/** Reports the processes that block `work`, which runs on the backend of `own`, and cancels its query on `signal`. */
export async function watched<T>(
  database: Database,
  own: Sql,
  onBlocked: (holder: string) => void,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const [backend] = await own<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const pid = backend?.pid ?? 0;
  let isOver = false;
  let cancelling: Promise<void> | undefined;

  async function watchBlockers(): Promise<void> {
    for (;;) {
      await sleep(blockerCheckMs, undefined, { ref: false });
      if (isOver || signal?.aborted) return;
      const holder = await blockersOf(database.sql, pid).catch(() => undefined);
      if (holder !== undefined && !isOver) onBlocked(holder);
    }
  }

  async function cancelUntilOver(): Promise<void> {
    // Between two statements there is nothing to cancel.
    while (!isOver) {
      await database.sql`select pg_cancel_backend(${pid}::int)`.catch(() => undefined);
      await sleep(cancelAgainMs);
    }
  }

  const onAbort = (): void => {
    cancelling = cancelUntilOver();
  };
  signal?.throwIfAborted();
  signal?.addEventListener("abort", onAbort, { once: true });
  void watchBlockers();
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    isOver = true;
    signal?.removeEventListener("abort", onAbort);
    await cancelling; // A late request would cancel the next query of the backend.
  }
}

export function throttled({ report }: WaitOptions): (text: string) => void {
  let next = 0;
  return (text) => {
    if (performance.now() < next) return;
    next = performance.now() + reportAgainMs;
    report?.(text);
  };
}

interface Holder {
  pid: number;
  application: string | null;
  seconds: number | null;
}

async function blockersOf(sql: Sql, pid: number): Promise<string | undefined> {
  return describeHolders(
    await sql<Holder[]>`
      select distinct pid, application_name as application,
        extract(epoch from clock_timestamp() - xact_start)::int as seconds
      from unnest(pg_blocking_pids(${pid}::int)) as blocking (pid) left join pg_stat_activity using (pid)`,
  );
}

async function schemaLockHolders(sql: Sql): Promise<string | undefined> {
  return describeHolders(
    await sql<Holder[]>`
      select distinct pid, application_name as application,
        extract(epoch from clock_timestamp() - xact_start)::int as seconds
      from pg_locks left join pg_stat_activity using (pid)
      where locktype = 'advisory' and granted and classid = 0 and objid = ${migrationLock}::int8::oid and objsubid = 1
        and database = (select oid from pg_database where datname = current_database())`,
  );
}

function describeHolders(holders: readonly Holder[]): string | undefined {
  if (holders.length === 0) return undefined;
  return holders
    .map(({ pid, application, seconds }) => {
      const details = [application && `application ${application}`, seconds !== null && `for ${seconds} s`];
      const known = details.filter(Boolean).join(", ");
      return `process ${pid} of PostgreSQL${known && ` (${known})`}`;
    })
    .join(" and ");
}
