import { createDeadlinesByLength } from "../../kernel/deadlines.ts";
import type { Database, OpenedDatabase, Transaction, Trouble } from "./database.ts";
import { watchDiskSpace } from "./disk-space.ts";
import { createListenerHub } from "./listener.ts";
import { Pool } from "./pool.ts";
import { QueryJob } from "./query-job.ts";
import { sqlOver } from "./sql.ts";
import type { Tls } from "./tls.ts";
import { runSession, runTransaction } from "./transaction.ts";
import { isOutOfConnections, troubleOf } from "./unavailable.ts";

export interface ConnectOptions {
  url: string;
  tls?: Tls | undefined;
  applicationName?: string | undefined;
  poolSize?: number;
  /** For each query, including the wait for a connection. */
  deadlineMs?: number;
  /** The current port of a server that may restart on another one. */
  port?: () => number;
  /** Time after which an unused connection is closed. */
  idleMs?: number;
  /** Receives rare messages for the operator about connections. */
  onTrouble?: ((text: string) => void) | undefined;
}

export interface OwnDatabase extends OpenedDatabase {
  /** The server's log shows that its disk is full. */
  markFull(): void;
}

const defaultPoolSize = 16;
/** Connections that a server process opens at most: its pool and its listener. */
export const connectionsOfProcess = defaultPoolSize + 1;

const readyWithinMs = 1000;
const closeWithinMs = 5000;
const reportAgainMs = 10 * 60_000;

/** The pool of both drivers. Connects on first use. */
export function connect(options: ConnectOptions): Database {
  return connectOwn(options);
}

export function connectOwn(options: ConnectOptions): OwnDatabase {
  const { poolSize = defaultPoolSize, deadlineMs = 10_000, idleMs = 60_000, onTrouble = () => undefined } = options;
  const settings = {
    url: options.url,
    tls: options.tls,
    applicationName: options.applicationName ?? "gantry",
    openMs: Math.min(5000, deadlineMs),
    cancelMs: Math.min(1000, deadlineMs),
    port: options.port,
  };
  const pool = new Pool({
    size: poolSize,
    connection: settings,
    patienceMs: Math.min(1000, deadlineMs),
    idleMs,
    onRefused: reportConnectionLimit(onTrouble),
  });
  const deadlinesOf = createDeadlinesByLength();
  const usual = deadlinesOf(deadlineMs);
  const hub = createListenerHub(settings, usual, {
    onRefused: () => pool.yieldConnection(),
    onSettled: () => pool.reclaimConnection(),
    onTrouble,
  });
  const transaction = <T>(work: (tx: Transaction) => Promise<T>, ms = deadlineMs): Promise<T> =>
    runTransaction(pool, deadlinesOf(ms), work, (error) => space.onError(error));
  const space = watchDiskSpace(transaction);
  const quick = sqlOver((statement) => pool.run(new QueryJob(statement, deadlinesOf(readyWithinMs))));

  let trouble: Trouble | undefined;

  async function findTrouble(): Promise<Trouble | undefined> {
    try {
      // A standby answers but refuses writes. Before the first migration no table exists.
      const [row] = await quick<{ mode: string; denied: boolean }[]>`
        select current_setting('transaction_read_only') as mode, current_schema() is null
          or not coalesce(has_table_privilege(to_regclass('schema_migrations'), 'select'), true) as denied`;
      if (space.isFull()) return "full";
      if (row?.mode === "on") return "read-only";
      return row?.denied ? "denied" : undefined;
    } catch {
      return space.isFull() ? "full" : troubleOf(pool.refusal);
    }
  }

  return {
    sql: sqlOver((statement) => pool.run(new QueryJob(statement, usual, space.onError))),
    transaction: (work, { deadlineMs: ms } = {}) => transaction(work, ms),
    session: (work, { deadlineMs: ms = deadlineMs } = {}) =>
      runSession(pool, deadlinesOf(ms), work, (error) => space.onError(error), deadlinesOf(readyWithinMs)),
    listen: hub.listen,
    ready: async () => {
      trouble = await findTrouble();
      return trouble === undefined;
    },
    trouble: () => trouble,
    isFull: space.isFull,
    markFull: space.markFull,
    figures: () => pool.figures(),
    async close() {
      space.stop();
      await Promise.all([hub.close(), pool.close(closeWithinMs)]);
    },
  };
}

/** With too few connections the nodes still work, but slowly, and nothing else would show it. */
function reportConnectionLimit(report: (text: string) => void): (error: unknown) => void {
  let next = 0;
  return (error) => {
    if (!isOutOfConnections(error) || performance.now() < next) return;
    next = performance.now() + reportAgainMs;
    report(`The database refuses more connections. Raise its connection limit: ${(error as Error).message}`);
  };
}
