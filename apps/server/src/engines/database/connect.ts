import { createDeadlinesByLength } from "../../kernel/deadlines.ts";
import type { Database, OpenedDatabase, Transaction, Trouble } from "./database.ts";
import { watchRoom } from "./disk-space.ts";
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
  /** Connections at most. */
  poolSize?: number;
  /** How long a query may take, waiting for a connection included. */
  deadlineMs?: number;
  /** The port at this moment, for a server that may come back at another one. */
  port?: () => number;
  /** How long a connection may be of no use before it is closed. */
  idleMs?: number;
  /** Told what an operator should know of the connections, in sentences, and each thing rarely. */
  onTrouble?: ((text: string) => void) | undefined;
}

/** For whoever runs the server too. */
export interface OwnDatabase extends OpenedDatabase {
  /** The server has said elsewhere than in an answer that it has no room: in its log. */
  foundFull(): void;
}

const readyWithinMs = 1000;
const closeWithinMs = 5000;
const tellAgainMs = 10 * 60_000;

/** The pool that both drivers of the port hand out. Connects when first needed. */
export function connect(options: ConnectOptions): Database {
  return connectOwn(options);
}

export function connectOwn(options: ConnectOptions): OwnDatabase {
  const { poolSize = 16, deadlineMs = 10_000, idleMs = 60_000, onTrouble = () => undefined } = options;
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
    onRefused: tellOfWantedConnections(onTrouble),
  });
  const deadlinesOf = createDeadlinesByLength();
  const usual = deadlinesOf(deadlineMs);
  const hub = createListenerHub(settings, usual, {
    onRefused: () => pool.makeRoom(),
    onSettled: () => pool.roomIsTaken(),
    onTrouble,
  });
  const transaction = <T>(work: (tx: Transaction) => Promise<T>, ms = deadlineMs): Promise<T> =>
    runTransaction(pool, deadlinesOf(ms), work, (error) => room.failed(error));
  const room = watchRoom(transaction);
  const quick = sqlOver((statement) => pool.run(new QueryJob(statement, deadlinesOf(readyWithinMs))));

  let trouble: Trouble | undefined;

  async function lookForTrouble(): Promise<Trouble | undefined> {
    try {
      // A standby answers, and takes nothing. Where there are no tables yet, none can be denied.
      const [row] = await quick<{ mode: string; denied: boolean }[]>`
        select current_setting('transaction_read_only') as mode, current_schema() is null
          or not coalesce(has_table_privilege(to_regclass('schema_migrations'), 'select'), true) as denied`;
      if (room.isFull()) return "full";
      if (row?.mode === "on") return "read-only";
      return row?.denied ? "denied" : undefined;
    } catch {
      return room.isFull() ? "full" : troubleOf(pool.refusal);
    }
  }

  return {
    sql: sqlOver((statement) => pool.run(new QueryJob(statement, usual, room.failed))),
    transaction: (work, { deadlineMs: ms } = {}) => transaction(work, ms),
    session: (work, { deadlineMs: ms = deadlineMs } = {}) =>
      runSession(pool, deadlinesOf(ms), work, (error) => room.failed(error), deadlinesOf(readyWithinMs)),
    listen: hub.listen,
    ready: async () => {
      trouble = await lookForTrouble();
      return trouble === undefined;
    },
    trouble: () => trouble,
    isFull: room.isFull,
    foundFull: room.foundFull,
    figures: () => pool.figures(),
    async close() {
      room.stop();
      await Promise.all([hub.close(), pool.close(closeWithinMs)]);
    },
  };
}

/** More processes than the server has connections for go on with fewer each, and slower: nothing else says so. */
function tellOfWantedConnections(tell: (text: string) => void): (error: unknown) => void {
  let next = 0;
  return (error) => {
    if (!isOutOfConnections(error) || performance.now() < next) return;
    next = performance.now() + tellAgainMs;
    tell(`The database takes no more connections, of which it should have more: ${(error as Error).message}`);
  };
}
