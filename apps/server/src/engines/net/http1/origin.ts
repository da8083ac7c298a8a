import { createDeadlinesByLength, type Deadlines, type Timed } from "../../../kernel/deadlines.ts";
import { Ring, type RingEntry } from "../../../kernel/ring.ts";
import { NetError } from "../net.ts";
import type { Connect, Connecting } from "./connect.ts";
import { Connection, type ConnectionOwner } from "./connection.ts";
import type { Exchange } from "./exchange.ts";

export interface OriginOptions {
  connect: Connect;
  maxConnections: number;
  maxHeadBytes: number;
}

const keptMs = 10_000;
const longestKeptMs = 60_000;
/** Closes earlier than the server announced, or the next request could meet the server's close. */
const marginMs = 1_000;
const idleTimes = createDeadlinesByLength();

/** Connections to one origin and the queue for them. The last used connection is reused first, so that others expire. */
export class Origin implements ConnectionOwner {
  readonly host: string;
  readonly maxHeadBytes: number;
  readonly #url: URL;
  readonly #connect: Connect;
  readonly #maxConnections: number;
  readonly #connections = new Set<Connection>();
  readonly #connecting = new Set<Connecting>();
  readonly #idle: IdleConnection[] = [];
  readonly #waiting = new Ring<Exchange>();
  #closing = false;

  constructor(origin: string, options: OriginOptions) {
    this.#url = new URL(origin);
    this.host = this.#url.host;
    this.maxHeadBytes = options.maxHeadBytes;
    this.#connect = options.connect;
    this.#maxConnections = options.maxConnections;
  }

  dispatch(exchange: Exchange): void {
    const idle = this.#idle.pop();
    if (idle) {
      idle.release();
      exchange.start(idle.connection);
      return;
    }
    const entry = this.#waiting.add(exchange);
    exchange.leaveQueue = () => entry.leave();
    this.#openMore();
  }

  #openMore(): void {
    while (
      this.#connecting.size < this.#waiting.size &&
      this.#connections.size + this.#connecting.size < this.#maxConnections
    ) {
      this.#open();
    }
  }

  #open(): void {
    let connection: Connection | undefined;
    const connecting = this.#connect(this.#url, {
      onRead: (size, buffer) => connection?.read(size, buffer) ?? true,
      onConnected: (socket) => {
        this.#connecting.delete(connecting);
        connection = new Connection(socket, this);
        this.#connections.add(connection);
        this.onFree(connection);
      },
      onFailed: (error) => {
        this.#connecting.delete(connecting);
        // Each waiting exchange has its own attempt, up to the limit, so one attempt fails one exchange.
        this.#waiting.shift()?.onError(error);
        this.#openMore();
      },
    });
    this.#connecting.add(connecting);
  }

  onFree(connection: Connection): void {
    const next = this.#waiting.shift();
    const ms = Math.min((connection.keepAliveMs ?? keptMs + marginMs) - marginMs, longestKeptMs);
    if (next) next.start(connection);
    else if (this.#closing || ms <= 0) connection.destroy();
    else this.#idle.push(new IdleConnection(connection, idleTimes(ms)));
  }

  onGone(connection: Connection): void {
    this.#connections.delete(connection);
    const at = this.#idle.findIndex((idle) => idle.connection === connection);
    if (at !== -1) for (const idle of this.#idle.splice(at, 1)) idle.release();
    this.#openMore();
  }

  /** Keeps no idle connections. Running and waiting exchanges continue. */
  close(): void {
    this.#closing = true;
    for (const { connection } of [...this.#idle]) connection.destroy();
  }

  get isEmpty(): boolean {
    return this.#connections.size + this.#connecting.size + this.#waiting.size === 0;
  }

  destroy(): void {
    this.#closing = true;
    const stopped = new NetError("cut", "The service is stopping");
    for (const exchange of this.#waiting.all()) exchange.onError(stopped);
    for (const connecting of this.#connecting) connecting.cancel();
    for (const connection of [...this.#connections]) connection.fail(stopped);
  }
}

class IdleConnection implements Timed {
  since = 0;
  readonly connection: Connection;
  readonly #deadline: RingEntry;

  constructor(connection: Connection, deadlines: Deadlines) {
    this.connection = connection;
    this.#deadline = deadlines.add(this);
  }

  release(): void {
    this.#deadline.leave();
  }

  expire(): void {
    this.connection.destroy();
  }
}
