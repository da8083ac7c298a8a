import { sleep } from "../../kernel/sleep.ts";
import { unlessAborted } from "../../kernel/unless-aborted.ts";
import type { Net } from "../net/net.ts";
import { connectServer, type OpenServer } from "./connect.ts";
import type { ToolLimits } from "./limits.ts";
import type { ToolList, ToolServerTarget } from "./tools.ts";

export interface Connection extends OpenServer {
  readonly target: ToolServerTarget;
  /** The cached list of tools. */
  tools: { listed: Promise<ToolList>; at: number; isUnderWay: boolean } | undefined;
}

interface Kept {
  revision: number;
  opening: Promise<Connection>;
  /** Undefined while opening. */
  connection: Connection | undefined;
  openedAt: number;
  users: number;
  idle: NodeJS.Timeout | undefined;
}

/**
 * One connection per server, shared by all its calls.
 *
 *   (first use) ──► opening ──► open, used by n ⇄ idle ──after a while──► closed
 *                      │          └─ stream broken, session lost, too old, other revision ──► replaced at the next use
 *                      └─ failed: all waiting calls fail, and the connection is dropped
 */
export class Connections {
  readonly #net: Net;
  readonly #version: string;
  readonly #limits: ToolLimits;
  readonly #byServer = new Map<string, Kept>();
  readonly #closing = new Set<Promise<void>>();

  constructor(net: Net, limits: ToolLimits, version: string) {
    this.#net = net;
    this.#limits = limits;
    this.#version = version;
  }

  /** Opens the connection if needed. It stays open while `work` runs. */
  async use<T>(
    target: ToolServerTarget,
    signal: AbortSignal,
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const kept = this.#keptFor(target);
    kept.users += 1;
    clearTimeout(kept.idle);
    try {
      return await work(await unlessAborted(kept.opening, signal));
    } finally {
      kept.users -= 1;
      if (kept.users === 0) this.#rest(target.id, kept);
    }
  }

  /** The next use opens another connection. Running calls stay on this one. */
  drop(connection: Connection): void {
    const kept = this.#byServer.get(connection.target.id);
    if (kept?.connection === connection) this.#retire(connection.target.id, kept);
  }

  forget(serverId: string): void {
    const kept = this.#byServer.get(serverId);
    if (kept) this.#retire(serverId, kept);
  }

  async close(): Promise<void> {
    for (const [id, kept] of this.#byServer) {
      this.#byServer.delete(id);
      this.#end(kept);
    }
    await Promise.all(this.#closing);
  }

  #keptFor(target: ToolServerTarget): Kept {
    const known = this.#byServer.get(target.id);
    if (known && known.revision === target.revision && !this.#isWorn(known)) {
      // Moves to the end: the first entries of the map are the least recently used.
      this.#byServer.delete(target.id);
      this.#byServer.set(target.id, known);
      return known;
    }
    if (known) this.#retire(target.id, known);
    const kept: Kept = {
      revision: target.revision,
      opening: this.#open(target, () => this.#forgetThis(target.id, kept)),
      connection: undefined,
      openedAt: performance.now(),
      users: 0,
      idle: undefined,
    };
    kept.opening.then(
      (connection) => {
        kept.connection = connection;
      },
      () => this.#forgetThis(target.id, kept),
    );
    this.#byServer.set(target.id, kept);
    this.#evict();
    return kept;
  }

  async #open(target: ToolServerTarget, onClosed: () => void): Promise<Connection> {
    let connection: Connection | undefined;
    const onToolsChanged = () => {
      if (connection) connection.tools = undefined;
    };
    const open = await connectServer(this.#net, target, this.#limits, {
      version: this.#version,
      onToolsChanged,
      onClosed,
    });
    connection = { ...open, target, tools: undefined };
    return connection;
  }

  #isWorn({ openedAt, connection }: Kept): boolean {
    if (performance.now() - openedAt > this.#limits.ageMs) return true;
    return connection !== undefined && connection.streamed() > this.#limits.streamBytes / 2;
  }

  #rest(id: string, kept: Kept): void {
    if (this.#byServer.get(id) === kept) {
      kept.idle = setTimeout(() => this.#retire(id, kept), this.#limits.idleMs).unref();
    } else {
      this.#end(kept);
    }
  }

  #evict(): void {
    for (const [id, kept] of this.#byServer) {
      if (this.#byServer.size <= this.#limits.connections) return;
      if (kept.users === 0 && kept.connection) this.#retire(id, kept);
    }
  }

  #forgetThis(id: string, kept: Kept): void {
    clearTimeout(kept.idle);
    if (this.#byServer.get(id) === kept) this.#byServer.delete(id);
  }

  #retire(id: string, kept: Kept): void {
    this.#forgetThis(id, kept);
    if (kept.users === 0) this.#end(kept);
  }

  /** Ends the session and closes in the background. Only `close` waits for it. */
  #end(kept: Kept): void {
    clearTimeout(kept.idle);
    const closing = kept.opening.then(
      (connection) => closePolitely(connection, this.#limits.farewellMs),
      () => {},
    );
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }
}

async function closePolitely({ client, transport }: Connection, farewellMs: number): Promise<void> {
  const timer = new AbortController();
  await Promise.race([transport.endSession().catch(() => {}), sleep(farewellMs, timer.signal).catch(() => {})]);
  timer.abort();
  await client.close().catch(() => {});
}
