import { connect as connectSocket, type Socket } from "node:net";
import postgres from "postgres";
import type { Driver, DriverQuery } from "./driver.ts";
import { makeSessionOurs } from "./session-settings.ts";
import { endsConnection, isAnswer, unavailable } from "./unavailable.ts";

/** A query on its way, as a connection sees it. */
export interface Job {
  readonly query: DriverQuery;
  /** The caller has been told; it need not be sent any more. */
  readonly gone: boolean;
  sentOver(connection: Connection): void;
  fail(error: unknown): void;
}

export interface ConnectionEvents {
  /** Called when it can take a job: after opening, and after each job unless more are waiting in line. */
  onFree(connection: Connection): void;
  /** Called once, when it is over, also when it never opened. */
  onEnd(connection: Connection, error: unknown): void;
  onNotify?(channel: string, payload: string): void;
}

export interface ConnectionSettings {
  openMs: number;
  /** How long after its deadline a query may take to react to being cancelled. */
  cancelMs: number;
  /** The port at this moment, where it is not fixed by the address. */
  port?: (() => number) | undefined;
}

/** A server's answer, N, to the question for TLS. */
const noTls = 78;

/**
 * One connection, one life. `postgres` can pool, pipeline and reconnect by itself, and in its version 3.4.9 all three
 * have ways to lose or to mix up answers (a pipelined query that fails to serialize shifts the answers of all behind it;
 * bytes that were not flushed when a socket closed are sent before the next handshake; a query that meets a closing
 * socket is later resolved with nothing). So each of its instances gets one socket and one query at a time, and none is
 * used again after its socket has closed.
 *
 *     opening ──► free ⇄ running ──► ended
 */
export class Connection {
  ended = false;
  readonly openedAt = performance.now();
  readonly #events: ConnectionEvents;
  readonly #settings: ConnectionSettings;
  readonly #instance: Driver;
  readonly #execute: (query: DriverQuery) => void;
  readonly #requestCancel: DriverQuery["canceller"];
  readonly #line: Job[] = [];
  #sockets = 0;
  #socket: Socket | undefined;
  #current: Job | undefined;
  /** The driver has settled the current job. */
  #answered = false;
  #cancelling: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(driver: Driver, events: ConnectionEvents, settings: ConnectionSettings) {
    this.#events = events;
    this.#settings = settings;
    this.#instance = postgres({
      ...(driver.options as object),
      socket: () => this.#createSocket(driver.options),
      onclose: () => this.end(unavailable("The database closed the connection.")),
      onnotify: (channel: string, payload: string) => events.onNotify?.(channel, payload),
    } as postgres.Options<Record<string, never>>) as unknown as Driver;
    const probe = this.#instance`select 1` as unknown as DriverQuery;
    this.#execute = probe.handler;
    this.#requestCancel = probe.canceller;
    this.#limit(settings.openMs, "Connecting to the database took too long.");
    this.#instance.unsafe(makeSessionOurs).then(() => this.#next(), this.end);
  }

  get idle(): boolean {
    return !this.#current && this.#line.length === 0;
  }

  run(job: Job): void {
    if (this.ended) job.fail(unavailable("The connection to the database was lost."));
    else if (this.#current) this.#line.push(job);
    else this.#start(job);
  }

  /** The driver says that the wire is done with a job. */
  answered(job: Job, error?: unknown): void {
    // The driver also resolves a query that it has rejected before, once the server is done with it.
    if (this.#current !== job || this.#answered) return;
    this.#answered = true;
    if (error !== undefined && endsConnection(error)) this.end(error);
    else if (this.#cancelling) this.#cancelling.then(() => this.#next());
    else if (error === undefined || isAnswer(error)) queueMicrotask(() => this.#next());
    else {
      // An error of the driver itself (a value that does not serialize or parse) comes before the server is done with
      // the query: a second, harmless query then marks the end of the first.
      this.#limit(this.#settings.openMs, "The database does not react.");
      this.#instance.unsafe("select 1").then(() => this.#next(), this.end);
    }
  }

  /** A job's deadline has passed: have the server stop it, or give the connection up if it does not react. */
  overdue(job: Job): void {
    if (this.#current !== job || this.#answered) return;
    // The request goes by another socket and could hit the next query: that one waits until it has been delivered.
    if (job.query.active) this.#cancelling = this.#requestCancel?.(job.query).catch(() => undefined);
    this.#limit(this.#settings.cancelMs, "The database does not react.");
  }

  /** Ends at once, whatever runs. */
  readonly end = (error: unknown): void => {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.#timer);
    this.#socket?.destroy();
    const [current, line] = [this.#current, this.#line.splice(0)];
    this.#current = undefined;
    this.#events.onEnd(this, error);
    const lost = isAnswer(error) ? error : unavailable("The connection to the database was lost.", error);
    for (const job of current ? [current, ...line] : line) job.fail(lost);
  };

  /** Ends politely; meant for an idle connection. */
  async close(): Promise<void> {
    if (this.ended) return;
    await this.#instance.end({ timeout: 1 }).catch(() => undefined);
    this.end(unavailable("The connection was closed."));
  }

  /** Ends the connection unless the next job starts, or it becomes free, within the time. */
  #limit(ms: number, message: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(unavailable(message)), ms);
  }

  #start(job: Job): void {
    this.#current = job;
    this.#answered = false;
    job.sentOver(this);
    this.#execute(job.query);
  }

  #next(): void {
    this.#current = undefined;
    this.#cancelling = undefined;
    clearTimeout(this.#timer);
    if (this.ended) return;
    let job = this.#line.shift();
    while (job?.gone) job = this.#line.shift();
    if (job) this.#start(job);
    else this.#events.onFree(this);
  }

  /** The first socket is the connection's own; later ones carry cancel requests. */
  #createSocket(options: Driver["options"]): Socket {
    if (this.ended) throw new Error("This connection is over");
    const turn = this.#sockets++;
    const host = options.host[0] ?? "localhost";
    const socket = options.path
      ? connectSocket({ path: options.path })
      : connectSocket({ host, port: this.#settings.port?.() ?? options.port[0] ?? 5432, noDelay: true });
    Object.assign(socket, { host });
    if (turn === 0) {
      this.#socket = socket;
      // Before the driver's own listeners: nothing may be sent between the error of a socket and its closing.
      socket.on("error", this.end).on("close", () => this.end(unavailable("The database closed the connection.")));
      // The driver would go on as if the server had said yes.
      if (options.ssl && options.ssl !== "prefer") {
        socket.once("data", ([answer]) => {
          if (answer === noTls) this.end(new Error("The server offers no TLS, which sslmode asks for"));
        });
      }
    } else {
      socket.on("error", () => undefined);
      setTimeout(() => socket.destroy(), this.#settings.cancelMs).unref();
    }
    return socket;
  }
}
