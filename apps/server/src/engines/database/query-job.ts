import type pg from "pg";
import type { Deadlines } from "../../kernel/deadlines.ts";
import type { RingEntry } from "../../kernel/ring.ts";
import type { Connection, Job } from "./connection.ts";
import type { Waiter } from "./pool.ts";
import type { Statement } from "./sql.ts";
import { translate, unavailable } from "./unavailable.ts";

/**
 * One query on its way. The caller's promise and the wire end at different moments when a deadline passes: the caller is
 * told at once, the connection stays taken until the server has answered or the connection is given up.
 *
 *     waiting ──► running ──► answered            (caller told, connection free)
 *        │           └──────► expired ──► answered | connection destroyed
 *        └──► expired                             (never sent)
 */
export class QueryJob implements Job, Waiter {
  since = 0;
  queued: RingEntry | undefined;
  /** The caller has been told. */
  gone = false;
  readonly statement: Statement;
  readonly #deadline: RingEntry;
  readonly #answer = Promise.withResolvers<pg.QueryResult>();
  readonly #onError: ((error: unknown) => void) | undefined;
  #connection: Connection | undefined;

  constructor(statement: Statement, deadlines: Deadlines, onError?: (error: unknown) => void) {
    this.statement = statement;
    this.#onError = onError;
    this.#deadline = deadlines.add(this);
  }

  get answer(): Promise<pg.QueryResult> {
    return this.#answer.promise;
  }

  take(connection: Connection): void {
    connection.run(this);
  }

  sentOver(connection: Connection): void {
    this.#connection = connection;
  }

  succeed(result: pg.QueryResult): void {
    if (this.gone) return;
    this.#leave();
    this.#answer.resolve(result);
  }

  /** Tells the caller. Says nothing about the wire. */
  fail(error: unknown): void {
    if (this.gone) return;
    this.#leave();
    const told = translate(error);
    this.#onError?.(told);
    this.#answer.reject(told);
  }

  expire(): void {
    this.#connection?.overdue(this);
    this.fail(unavailable("The database did not answer in time."));
  }

  #leave(): void {
    this.gone = true;
    this.#deadline.leave();
    this.queued?.leave();
  }
}
