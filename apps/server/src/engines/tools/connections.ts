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
  revision: number | string;
  /** Shared with the open connection, which reads the credential for each request. */
  target: ToolServerTarget;
  opening: Promise<Connection>;
  /** Undefined while opening. */
  connection: Connection | undefined;
  openedAt: number;
  users: number;
  idle: NodeJS.Timeout | undefined;
}

/**
 * One connection per server, shared by all its calls. Where users have credentials of their own, one per server and user:
 * sessions and lists of tools of one user are never used for another.
 *
 *   (first use) ──► opening ──► open, used by n ⇄ idle ──after a while──► closed
 *                      │          └─ stream broken, session lost, too old, other revision ──► replaced at the next use
 *                      └─ failed: all waiting calls fail, and the connection is dropped
 */
export class Connections {
  readonly #net: Net;
  readonly #version: string;
  readonly #limits: ToolLimits;
  readonly #byKey = new Map<string, Kept>();
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
      if (kept.users === 0) this.#rest(keyOf(target), kept);
    }
  }

  /** The next use opens another connection. Running calls stay on this one. */
  drop(connection: Connection): void {
    const key = keyOf(connection.target);
    const kept = this.#byKey.get(key);
    if (kept?.connection === connection) this.#retire(key, kept);
  }

  forget(serverId: string): void {
    for (const [key, kept] of this.#byKey) if (kept.target.id === serverId) this.#retire(key, kept);
  }

  async close(): Promise<void> {
    for (const [key, kept] of this.#byKey) {
      this.#byKey.delete(key);
      this.#end(kept);
    }
    await Promise.all(this.#closing);
  }

  #keptFor(given: ToolServerTarget): Kept {
    const key = keyOf(given);
    const known = this.#byKey.get(key);
    if (known && known.revision === given.revision && !this.#isWorn(known) && !isOpeningWithOther(known, given)) {
      // Moves to the end: the first entries of the map are the least recently used.
      this.#byKey.delete(key);
      this.#byKey.set(key, known);
      if (given.header && given.header.value !== known.target.header?.value) {
        // A refreshed token does not need a new session. The list may quote the former token, which is masked no more.
        known.target.header = given.header;
        if (known.connection) known.connection.tools = undefined;
      }
      return known;
    }
    if (known) this.#retire(key, known);
    const target = { ...given };
    const kept: Kept = {
      revision: target.revision,
      target,
      opening: this.#open(target, () => this.#forgetThis(key, kept)),
      connection: undefined,
      openedAt: performance.now(),
      users: 0,
      idle: undefined,
    };
    kept.opening.then(
      (connection) => {
        kept.connection = connection;
      },
      () => this.#forgetThis(key, kept),
    );
    this.#byKey.set(key, kept);
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

  #rest(key: string, kept: Kept): void {
    if (this.#byKey.get(key) === kept) {
      kept.idle = setTimeout(() => this.#retire(key, kept), this.#limits.idleMs).unref();
    } else {
      this.#end(kept);
    }
  }

  #evict(): void {
    for (const [key, kept] of this.#byKey) {
      if (this.#byKey.size <= this.#limits.connections) return;
      if (kept.users === 0 && kept.connection) this.#retire(key, kept);
    }
  }

  #forgetThis(key: string, kept: Kept): void {
    clearTimeout(kept.idle);
    if (this.#byKey.get(key) === kept) this.#byKey.delete(key);
  }

  #retire(key: string, kept: Kept): void {
    this.#forgetThis(key, kept);
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

/** The handshake may fail with the former token, and with it calls that have a new one. */
function isOpeningWithOther({ connection, target }: Kept, { header }: ToolServerTarget): boolean {
  return connection === undefined && header?.value !== target.header?.value;
}

function keyOf({ id, user }: ToolServerTarget): string {
  return user === undefined ? id : `${id} ${user}`;
}

async function closePolitely({ client, transport }: Connection, farewellMs: number): Promise<void> {
  const timer = new AbortController();
  await Promise.race([transport.endSession().catch(() => {}), sleep(farewellMs, timer.signal).catch(() => {})]);
  timer.abort();
  await client.close().catch(() => {});
}
