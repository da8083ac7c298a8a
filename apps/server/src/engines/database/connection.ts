import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { ConnectionOptions } from "node:tls";
import pg from "pg";
import { cancelQuery } from "./cancel.ts";
import { sessionSetup } from "./session-settings.ts";
import type { Statement } from "./sql.ts";
import type { Tls } from "./tls.ts";
import { types } from "./types.ts";
import { endsConnection, isAnswer, isOutdatedPlan, unavailable } from "./unavailable.ts";

/** A query, as a connection sees it. */
export interface Job {
  readonly statement: Statement;
  readonly answer: Promise<pg.QueryResult>;
  /** The caller has its answer, so the query need not be sent. */
  readonly gone: boolean;
  sentOver(connection: Connection): void;
  succeed(result: pg.QueryResult): void;
  fail(error: unknown): void;
}

export interface ConnectionEvents {
  /** Called after opening, and after each job unless more are queued. */
  onFree(connection: Connection): void;
  /** Called once, also if the connection never opened. */
  onEnd(connection: Connection, error: unknown): void;
  onNotify?(channel: string, payload: string): void;
}

export interface ConnectionSettings {
  url: string;
  applicationName: string;
  tls?: Tls | undefined;
  openMs: number;
  /** Time for a query to end after its cancellation. */
  cancelMs: number;
  /** The current port, if it can change. */
  port?: (() => number) | undefined;
}

const closeMs = 1000;
const keepAliveMs = 60_000;
const noTls = "The server does not support SSL connections";

/** `opening ──► free ⇄ running ──► ended`. Never reopens. */
export class Connection {
  ended = false;
  /** Its prepared statements no longer match the tables, so it must be replaced. */
  isOutdated = false;
  readonly openedAt = performance.now();
  readonly #events: ConnectionEvents;
  readonly #settings: ConnectionSettings;
  readonly #waiting: Job[] = [];
  #ssl: ConnectionOptions | false;
  #socket: Socket;
  #client: pg.Client;
  #current: Job | undefined;
  #cancelling: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(events: ConnectionEvents, settings: ConnectionSettings) {
    this.#events = events;
    this.#settings = settings;
    this.#ssl = settings.tls?.options ?? false;
    [this.#socket, this.#client] = this.#open();
    this.#limit(settings.openMs, "Connecting to the database took too long.");
  }

  get idle(): boolean {
    return !this.#current && this.#waiting.length === 0;
  }

  run(job: Job): Promise<pg.QueryResult> {
    if (this.ended) job.fail(unavailable("The connection to the database was lost."));
    else if (this.#current) this.#waiting.push(job);
    else this.#start(job);
    return job.answer;
  }

  /** Cancels a job after its deadline. Ends the connection if the server does not react. */
  overdue(job: Job): void {
    if (this.#current !== job) return;
    // The next query waits for the delivery, or it could be cancelled instead.
    this.#cancelling = cancelQuery(this.#client, this.#ssl, this.#settings.cancelMs);
    this.#limit(this.#settings.cancelMs, "The database does not react.");
  }

  /** Does not wait for running queries. */
  readonly end = (error: unknown): void => {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.#timer);
    this.#socket.destroy();
    const [current, waiting] = [this.#current, this.#waiting.splice(0)];
    this.#current = undefined;
    this.#events.onEnd(this, error);
    const lost = isAnswer(error) ? error : unavailable("The connection to the database was lost.", error);
    for (const job of current ? [current, ...waiting] : waiting) job.fail(lost);
  };

  /** For an idle connection: sends Terminate first. */
  async close(): Promise<void> {
    if (this.ended) return;
    await Promise.race([this.#client.end(), sleep(closeMs, undefined, { ref: false })]);
    this.end(unavailable("The connection was closed."));
  }

  #open(): [Socket, pg.Client] {
    const { url, applicationName, port, tls } = this.#settings;
    const address = new URL(url);
    if (port) address.port = String(port());
    const socket = new Socket();
    const client = new pg.Client({
      connectionString: address.toString(),
      application_name: applicationName,
      ssl: this.#ssl && { ...this.#ssl },
      stream: () => socket,
      types,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
    });
    const lost = (error: unknown): void => {
      if (this.#client === client) this.end(error);
    };
    client.on("error", lost).on("end", () => lost(unavailable("The database closed the connection.")));
    client.on("notification", ({ channel, payload = "" }) => this.#events.onNotify?.(channel, payload));
    client.connect((error: Error | null) => {
      if (!error) client.query(sessionSetup, (failure) => (failure ? lost(failure) : this.#next()));
      else if (error.message !== noTls) lost(error);
      else if (!tls?.isOptional) lost(new Error("The server does not support TLS, which sslmode requires"));
      else {
        this.#ssl = false;
        [this.#socket, this.#client] = this.#open();
      }
    });
    return [socket, client];
  }

  /** Ends the connection unless it becomes free, or starts the next job, in time. */
  #limit(ms: number, message: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(unavailable(message)), ms);
  }

  #start(job: Job): void {
    this.#current = job;
    job.sentOver(this);
    this.#send(job, job.statement.name);
  }

  #send(job: Job, name: string | undefined): void {
    const { text, values } = job.statement;
    this.#client.query({ name, text, values }, (error: Error | null, result) => {
      if (this.#current !== job) return;
      if (!error) {
        job.succeed(result);
        this.#goOn();
        return;
      }
      if (isAnswer(error)) Object.assign(error, { name: "PostgresError" }); // The driver's name is "error".
      if (name && isOutdatedPlan(error) && this.#client.getTransactionStatus() === "I") {
        this.isOutdated = true;
        this.#client.once("drain", () => this.#send(job, undefined));
        return;
      }
      job.fail(error);
      if (endsConnection(error)) this.end(error);
      else this.#client.once("drain", () => this.#goOn()); // The error arrives before the server is ready again.
    });
  }

  #goOn(): void {
    if (this.#cancelling) this.#cancelling.then(() => this.#next());
    else this.#next();
  }

  #next(): void {
    this.#current = undefined;
    this.#cancelling = undefined;
    clearTimeout(this.#timer);
    if (this.ended) return;
    let job = this.#waiting.shift();
    while (job?.gone) job = this.#waiting.shift();
    if (job) this.#start(job);
    else this.#events.onFree(this);
  }
}
