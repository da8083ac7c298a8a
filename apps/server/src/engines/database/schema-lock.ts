import { setTimeout as sleep } from "node:timers/promises";
import type { Database, Sql } from "./database.ts";
import { codeOf } from "./unavailable.ts";

/** How whoever changes the schema, or needs it to stay, waits for others. */
export interface Patience {
  /** Told what is waited for: soon, and now and then as long as it lasts. */
  tell?: ((text: string) => void) | undefined;
  /** Ends the waiting, and the work too. */
  signal?: AbortSignal | undefined;
}

const longestWaitMs = 15 * 60_000;
const tellAgainMs = 30_000;
const lookMs = 500;
const cancelAgainMs = 100;
const tryLockMs = 200;
const pauseMs = 3_000;
/** In this time nobody can use a table that a migration waits for: less than any query has, so nobody is refused. */
const lockTimeoutMs = 2_000;

/**
 * Taken by whoever migrates, and shared by those who need the schema to stay. Nobody waits for it within a query or a
 * transaction: both keep a snapshot, and whoever holds the lock may be building an index that waits for all of those. So
 * it is tried, and tried again.
 */
const functionOf = {
  "exclusive until the transaction ends": "pg_try_advisory_xact_lock",
  "exclusive until the session ends": "pg_try_advisory_lock",
  "shared until the session ends": "pg_try_advisory_lock_shared",
} as const;

class SchemaInUse extends Error {}

/** One try. */
export async function takeSchema(sql: Sql, how: keyof typeof functionOf): Promise<void> {
  const [row] = await sql.unsafe<{ taken: boolean }[]>(`select ${functionOf[how]}(${migrationLock}) as taken`);
  if (row?.taken) return;
  const holder = (await whoHoldsSchema(sql)) ?? "somebody";
  throw new SchemaInUse(`another program migrates this database or backs it up: ${holder}`);
}

/** Nobody migrates while `work` goes on. */
export function whileSchemaStays<T>(database: Database, patience: Patience, work: () => Promise<T>): Promise<T> {
  return database.session(async (sql) => {
    await untilLocked("The lock of the schema", patience, () => takeSchema(sql, "shared until the session ends"));
    return work();
  });
}

/**
 * One transaction that changes the schema, tried again until it gets its locks. If it does not get one soon, it steps aside
 * and lets the queries behind it pass.
 */
export async function changeSchema<T>(
  database: Database,
  what: string,
  patience: Patience,
  work: (tx: Sql) => Promise<T>,
  deadlineMs = longestWaitMs,
): Promise<T> {
  const { signal } = patience;
  const tell = nowAndThen(patience);
  const attempt = (): Promise<T> =>
    database.transaction(
      async (tx) => {
        await takeSchema(tx, "exclusive until the transaction ends");
        await tx.unsafe(`set local lock_timeout = ${lockTimeoutMs}`);
        return watched(
          database,
          tx,
          (holder) => tell(`${what} waits for ${holder}`),
          signal,
          () => work(tx),
        );
      },
      { deadlineMs },
    );
  return untilLocked(what, patience, attempt);
}

/** Tries again, after a pause, what did not get the schema, or stepped aside. */
export async function untilLocked<T>(what: string, patience: Patience, attempt: () => Promise<T>): Promise<T> {
  const until = performance.now() + longestWaitMs;
  const tell = nowAndThen(patience);
  for (;;) {
    patience.signal?.throwIfAborted();
    let pause = pauseMs;
    try {
      return await attempt();
    } catch (error) {
      patience.signal?.throwIfAborted();
      if (error instanceof SchemaInUse) {
        tell(`Waiting, since ${error.message}`);
        pause = tryLockMs;
      } else if (!foundNoLock(error)) throw error;
      if (performance.now() > until)
        throw new Error(`${what} was waited for in vain for ${longestWaitMs / 60_000} minutes`, { cause: error });
    }
    await sleep(pause, undefined, { signal: patience.signal });
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

/** Any number; all nodes must use the same. */
export const migrationLock = 7_242_001;

interface Holder {
  pid: number;
  application: string | null;
  seconds: number | null;
}

/** Those in whose way this backend cannot go on, in words; undefined when there are none. */
export async function whoBlocks(sql: Sql, pid: number): Promise<string | undefined> {
  return inWords(
    await sql<Holder[]>`
      select distinct pid, application_name as application,
        extract(epoch from clock_timestamp() - xact_start)::int as seconds
      from unnest(pg_blocking_pids(${pid}::int)) as blocking (pid) left join pg_stat_activity using (pid)`,
  );
}

/** Those who migrate this database at the moment, or need it to stay as it is. */
export async function whoHoldsSchema(sql: Sql): Promise<string | undefined> {
  return inWords(
    await sql<Holder[]>`
      select distinct pid, application_name as application,
        extract(epoch from clock_timestamp() - xact_start)::int as seconds
      from pg_locks left join pg_stat_activity using (pid)
      where locktype = 'advisory' and granted and classid = 0 and objid = ${migrationLock}::int8::oid and objsubid = 1
        and database = (select oid from pg_database where datname = current_database())`,
  );
}

function inWords(holders: readonly Holder[]): string | undefined {
  if (holders.length === 0) return undefined;
  return holders
    .map(({ pid, application, seconds }) => {
      const details = [application && `application ${application}`, seconds !== null && `for ${seconds} s`];
      const known = details.filter(Boolean).join(", ");
      return `process ${pid} of PostgreSQL${known && ` (${known})`}`;
    })
    .join(" and ");
}
