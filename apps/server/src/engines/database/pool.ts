import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Deadlines, Timed } from "../../kernel/deadlines.ts";
import { Ring, type RingEntry } from "../../kernel/ring.ts";
import { Connection, type ConnectionSettings, type Job } from "./connection.ts";
import type { PoolFigures } from "./database.ts";
import { awayFor, translate, unavailable } from "./unavailable.ts";

/** A query, or a transaction that keeps its connection until `giveBack`. */
export interface Waiter extends Timed {
  queued: RingEntry | undefined;
  take(connection: Connection): void;
  fail(error: unknown): void;
}

export interface PoolOptions {
  size: number;
  connection: ConnectionSettings;
  /** How long waiters tolerate refused connections, to survive a restart of the server. */
  patienceMs: number;
  /** Time after which an unused connection is closed. */
  idleMs: number;
  /** Called each time that the server refuses a connection. */
  onRefused(error: unknown): void;
}

const firstRetryMs = 50;
const lastRetryMs = 500;
/** With more waiters all of them would expire, so further ones are refused at once. */
const mostWaiting = 20_000;
const lifetimeMs = 30 * 60_000;
const keptIdle = 4;

export class Pool {
  /** The last error of opening a connection, until one opens. */
  refusal: unknown;
  readonly #options: PoolOptions;
  readonly #all = new Set<Connection>();
  readonly #idle: Connection[] = [];
  readonly #held = new Set<Connection>();
  readonly #waiting = new Ring<Waiter>();
  readonly #sparing: NodeJS.Timeout;
  #opening = 0;
  #failures = 0;
  /** The current limit of connections. */
  #most: number;
  /** The lowest number of idle connections since the last check. The last one is taken first, so the first ones are unused. */
  #unused = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#most = options.size;
    this.#sparing = setInterval(() => this.#closeUnused(), options.idleMs);
    this.#sparing.unref();
  }

  run(job: Waiter & Job): Promise<pg.QueryResult> {
    this.#submit(job);
    return job.answer;
  }

  #submit(waiter: Waiter): void {
    const connection = this.#waiting.size === 0 ? this.#idle.pop() : undefined;
    this.#unused = Math.min(this.#unused, this.#idle.length);
    if (this.#closed) waiter.fail(unavailable("The database connection is closed."));
    else if (connection) waiter.take(connection);
    else if (this.#waiting.size >= mostWaiting)
      waiter.fail(unavailable("Too many queries are waiting for the database."));
    else {
      waiter.queued = this.#waiting.add(waiter);
      this.#grow();
    }
  }

  /** A dedicated connection until `giveBack`. */
  acquire(deadlines: Deadlines): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const waiter = {
        since: 0,
        queued: undefined as RingEntry | undefined,
        take: (connection: Connection) => {
          waiter.leave();
          this.#held.add(connection);
          resolve(connection);
        },
        fail: (error: unknown) => {
          waiter.leave();
          reject(translate(error));
        },
        expire: () => waiter.fail(unavailable("No connection to the database became free in time.")),
        leave: () => {
          deadline.leave();
          waiter.queued?.leave();
        },
      };
      const deadline = deadlines.add(waiter);
      this.#submit(waiter);
    });
  }

  giveBack(connection: Connection): void {
    this.#held.delete(connection);
    if (!connection.ended && connection.idle) this.#free(connection);
  }

  figures(): PoolFigures {
    const idle = this.#idle.length;
    return { idle, busy: this.#all.size - idle, waiting: this.#waiting.size };
  }

  /**
   * Closes a connection, now or when one becomes free, because the server is at its limit and the listener needs one. It is
   * not replaced until `reclaimConnection`. The last connection stays.
   */
  yieldConnection(): void {
    const open = this.#all.size - this.#opening;
    if (open < 2) return;
    this.#most = Math.min(this.#most, open - 1);
    const oldest = this.#idle[0];
    if (oldest && open > this.#most) this.#drop(oldest);
  }

  reclaimConnection(): void {
    this.#most = this.#options.size;
    this.#grow();
  }

  /** Waits up to `ms` for running queries. */
  async close(ms: number): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sparing);
    clearTimeout(this.#retryTimer);
    for (const waiter of this.#waiting.all()) waiter.fail(unavailable("The database connection is closed."));
    const until = performance.now() + ms;
    const busy = (): boolean => [...this.#all].some((each) => !each.idle || this.#held.has(each));
    while (busy() && performance.now() < until) await sleep(10);
    await Promise.all(
      [...this.#all].map((each) =>
        each.idle ? each.close() : each.end(unavailable("The database connection is closed.")),
      ),
    );
  }

  #grow(): void {
    while (!this.#retryTimer && !this.#closed && this.#opening < this.#waiting.size && this.#all.size < this.#most) {
      this.#opening++;
      let opened = false;
      const connection: Connection = new Connection(
        {
          onFree: () => {
            if (!opened) {
              opened = true;
              this.#opening--;
              this.#failures = 0;
              this.refusal = undefined;
            }
            if (!this.#held.has(connection)) this.#free(connection);
          },
          onEnd: (_, error) => {
            if (!opened) this.#opening--;
            this.#lost(connection, error, opened);
          },
        },
        this.#options.connection,
      );
      this.#all.add(connection);
    }
  }

  #free(connection: Connection): void {
    if (connection.isOutdated || this.#all.size - this.#opening > this.#most) {
      this.#drop(connection);
      this.#grow();
      return;
    }
    const waiter = this.#waiting.shift();
    if (waiter) {
      waiter.take(connection);
      return;
    }
    // The backend of an old connection accumulates prepared statements and memory.
    if (performance.now() - connection.openedAt > lifetimeMs) this.#drop(connection);
    else this.#idle.push(connection);
  }

  #closeUnused(): void {
    for (const connection of this.#idle.slice(0, Math.max(0, this.#unused - keptIdle))) this.#drop(connection);
    this.#unused = this.#idle.length;
  }

  #drop(connection: Connection): void {
    this.#forget(connection);
    void connection.close();
  }

  #forget(connection: Connection): void {
    this.#all.delete(connection);
    this.#held.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#unused = Math.min(this.#unused, this.#idle.length);
  }

  #lost(connection: Connection, error: unknown, opened: boolean): void {
    this.#forget(connection);
    if (opened || this.#closed) {
      this.#grow();
      return;
    }
    this.refusal = error;
    this.#options.onRefused(error);
    this.#refuseImpatient(error);
    if (this.#retryTimer) return;
    const wait = Math.min(firstRetryMs * 2 ** this.#failures++, lastRetryMs);
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined;
      this.#grow();
    }, wait);
  }

  /** Fails waiters that have waited long enough, unless open connections will serve them. */
  #refuseImpatient(error: unknown): void {
    if (this.#all.size > this.#opening) return;
    const limit = performance.now() - this.#options.patienceMs;
    for (const waiter of this.#waiting.all()) if (waiter.since <= limit) waiter.fail(awayFor(error));
  }
}
