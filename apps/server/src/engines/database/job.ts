import type { Deadlines, Timed } from "../../kernel/deadlines.ts";
import type { Place } from "../../kernel/ring.ts";
import type { Connection, Job } from "./connection.ts";
import type { DriverQuery } from "./driver.ts";
import type { Waiter } from "./pool.ts";
import { translate, unavailable } from "./unavailable.ts";

/**
 * One query on its way. The caller's promise and the wire end at different moments when a deadline passes: the caller is
 * told at once, the connection stays taken until the server has answered or the connection is given up.
 *
 *     waiting ──► running ──► answered            (caller told, connection free)
 *        │           └──────► expired ──► answered | connection destroyed
 *        └──► expired                             (never sent)
 */
export class QueryJob implements Job, Waiter, Timed {
  since = 0;
  /** The caller has been told. */
  gone = false;
  readonly query: DriverQuery;
  readonly #place: Place;
  readonly #resolve: (result: unknown) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onError: ((error: unknown) => void) | undefined;
  #connection: Connection | undefined;

  constructor(query: DriverQuery, deadlines: Deadlines, onError?: (error: unknown) => void) {
    this.query = query;
    this.#resolve = query.resolve;
    this.#reject = query.reject;
    this.#onError = onError;
    query.resolve = (result) => {
      this.#connection?.answered(this);
      if (!this.gone) {
        this.#leave();
        this.#resolve(result);
      }
    };
    query.reject = (error) => {
      this.#connection?.answered(this, error);
      this.fail(error);
    };
    this.#place = deadlines.add(this);
    if (query.streaming || query.cursorRows !== undefined)
      this.fail(new Error("Cursors and COPY streams are not supported: page by key instead"));
  }

  take(connection: Connection): void {
    connection.run(this);
  }

  sentOver(connection: Connection): void {
    this.#connection = connection;
  }

  /** Tells the caller. Says nothing about the wire. */
  fail(error: unknown): void {
    if (this.gone) return;
    this.#leave();
    const told = translate(error);
    this.#onError?.(told);
    this.#reject(told);
  }

  expire(): void {
    this.#connection?.overdue(this);
    this.fail(unavailable("The database did not answer in time."));
  }

  #leave(): void {
    this.gone = true;
    this.#place.leave();
  }
}
