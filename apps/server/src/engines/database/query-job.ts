import type pg from "pg";
import type { Deadlines } from "../../kernel/deadlines.ts";
import type { RingEntry } from "../../kernel/ring.ts";
import type { Connection, Job } from "./connection.ts";
import type { Waiter } from "./pool.ts";
import type { Statement } from "./sql.ts";
import { translate, unavailable } from "./unavailable.ts";

/**
 * After a deadline the caller's promise rejects at once, but the connection stays busy until the server answers or the
 * connection is destroyed.
 *
 *     waiting ──► running ──► answered            (connection free)
 *        │           └──────► expired ──► answered | connection destroyed
 *        └──► expired                             (never sent)
 */
export class QueryJob implements Job, Waiter {
  since = 0;
  queued: RingEntry | undefined;
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

  /** Rejects the caller's promise. The connection is not affected. */
  fail(error: unknown): void {
    if (this.gone) return;
    this.#leave();
    const reason = translate(error);
    this.#onError?.(reason);
    this.#answer.reject(reason);
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
