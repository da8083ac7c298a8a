import type pg from "pg";
import type { Deadlines, Timed } from "../../kernel/deadlines.ts";
import { Ring, type RingEntry } from "../../kernel/ring.ts";
import { Connection, type ConnectionSettings, type Job } from "./connection.ts";
import type { PoolFigures } from "./database.ts";
import { awayFor, translate, unavailable } from "./unavailable.ts";

/** Something that wants a connection: a query for as long as it runs, a transaction until it gives it back. */
export interface Waiter extends Timed {
  /** Where it waits; it leaves there when it is no longer interested. */
  queued: RingEntry | undefined;
  take(connection: Connection): void;
  fail(error: unknown): void;
}

export interface PoolOptions {
  size: number;
  connection: ConnectionSettings;
  /** How long waiters bear with a server that refuses connections, so that its restart goes unnoticed. */
  patienceMs: number;
  /** How long a connection may be of no use before it is closed. */
  idleMs: number;
  /** Called each time that the server takes no further connection. */
  onRefused(error: unknown): void;
}

const firstRetryMs = 50;
const lastRetryMs = 500;
/** More than this waiting means that we are far behind: refuse at once instead of letting everyone expire. */
const mostWaiting = 20_000;
const lifetimeMs = 30 * 60_000;
/** So many stay open for what comes next, however quiet it is. */
const keptIdle = 4;

export class Pool {
  /** Why no further connection could be opened, until one is. */
  refusal: unknown;
  readonly #options: PoolOptions;
  readonly #all = new Set<Connection>();
  readonly #idle: Connection[] = [];
  readonly #held = new Set<Connection>();
  readonly #waiting = new Ring<Waiter>();
  readonly #sparing: NodeJS.Timeout;
  #opening = 0;
  #failures = 0;
  /** As many as there may be for the moment. */
  #most: number;
  /** As many as were idle at every moment since the last look: the longest idle ones, as the last one is taken first. */
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

  /** A connection for one holder alone, until `giveBack`. */
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
   * The server takes no further connection, and someone else needs one: one of these is closed, now or as soon as one is
   * free, and none is opened in its place before `roomIsTaken`. The last one stays.
   */
  makeRoom(): void {
    const open = this.#all.size - this.#opening;
    if (open < 2) return;
    this.#most = Math.min(this.#most, open - 1);
    const oldest = this.#idle[0];
    if (oldest && open > this.#most) this.#drop(oldest);
  }

  roomIsTaken(): void {
    this.#most = this.#options.size;
    this.#grow();
  }

  /** Waits for what is running, up to `ms`. */
  async close(ms: number): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sparing);
    clearTimeout(this.#retryTimer);
    for (const waiter of this.#waiting.all()) waiter.fail(unavailable("The database connection is closed."));
    const until = performance.now() + ms;
    const busy = (): boolean => [...this.#all].some((each) => !each.idle || this.#held.has(each));
    while (busy() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10));
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
    // Prepared statements and memory pile up on a server's side of a connection; now is a quiet moment.
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

  /** No connection can be opened. Who waited long enough is told, unless open connections will serve him. */
  #refuseImpatient(error: unknown): void {
    if (this.#all.size > this.#opening) return;
    const limit = performance.now() - this.#options.patienceMs;
    for (const waiter of this.#waiting.all()) if (waiter.since <= limit) waiter.fail(awayFor(error));
  }
}
