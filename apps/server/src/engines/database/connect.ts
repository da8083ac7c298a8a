import { createDeadlinesByLength } from "../../kernel/deadlines.ts";
import type { Database } from "./database.ts";
import { createDriver, type DriverOptions, type DriverQuery, sqlOver } from "./driver.ts";
import { QueryJob } from "./job.ts";
import { createListenerHub } from "./listener.ts";
import { Pool } from "./pool.ts";
import { runTransaction } from "./transaction.ts";

export interface ConnectOptions extends DriverOptions {
  /** Connections at most. */
  poolSize?: number;
  /** How long a query may take, waiting for a connection included. */
  deadlineMs?: number;
  /** The port at this moment, for a server that may come back at another one. */
  port?: () => number;
}

const readyWithinMs = 1000;
const closeWithinMs = 5000;

/** The pool that both drivers of the port hand out. Connects when first needed. */
export function connect(options: ConnectOptions): Database {
  const { poolSize = 16, deadlineMs = 10_000 } = options;
  const driver = createDriver(options);
  const settings = { openMs: Math.min(5000, deadlineMs), cancelMs: Math.min(1000, deadlineMs), port: options.port };
  const pool = new Pool(driver, { size: poolSize, connection: settings, patienceMs: Math.min(1000, deadlineMs) });
  const deadlinesOf = createDeadlinesByLength();
  const usual = deadlinesOf(deadlineMs);
  const hub = createListenerHub(driver, settings, usual);
  const quick = sqlOver(driver, (query: DriverQuery) => pool.submit(new QueryJob(query, deadlinesOf(readyWithinMs))));

  return {
    sql: sqlOver(driver, (query) => pool.submit(new QueryJob(query, usual))),
    transaction: (work, { deadlineMs: ms = deadlineMs } = {}) => runTransaction(pool, driver, deadlinesOf(ms), work),
    listen: hub.listen,
    ready: () =>
      quick`select 1`.then(
        () => true,
        () => false,
      ),
    figures: () => pool.figures(),
    async close() {
      await Promise.all([hub.close(), pool.close(closeWithinMs)]);
    },
  };
}
