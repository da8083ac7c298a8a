import { type buildConnector, type Dispatcher, Pool } from "undici";
import { bounded } from "./bounded-exchange.ts";

interface PoolOptions {
  connect: buildConnector.connector;
  maxOrigins: number;
  maxConnectionsPerOrigin: number;
  maxHeaderBytes: number;
}

interface Kept {
  pool: Pool;
  /** The pool as callers see it. */
  bounded: Dispatcher;
}

/**
 * One pool of kept connections an origin, the least recently used one closed when there are too many: users choose the
 * origins, so their number must not. A closed pool still ends what it runs.
 */
export class Pools {
  readonly #options: PoolOptions;
  readonly #byOrigin = new Map<string, Kept>();
  readonly #closing = new Set<Pool>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  for(origin: string): Dispatcher {
    const known = this.#byOrigin.get(origin);
    if (known) {
      // A Map keeps the order of insertion: the first one is the one not used for longest.
      this.#byOrigin.delete(origin);
      this.#byOrigin.set(origin, known);
      return known.bounded;
    }
    const pool = new Pool(origin, {
      connect: this.#options.connect,
      connections: this.#options.maxConnectionsPerOrigin,
      maxHeaderSize: this.#options.maxHeaderBytes,
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: 10_000,
      keepAliveMaxTimeout: 60_000,
    });
    const kept = { pool, bounded: pool.compose(bounded) };
    this.#byOrigin.set(origin, kept);
    for (const [oldest, idle] of this.#byOrigin) {
      if (this.#byOrigin.size <= this.#options.maxOrigins) break;
      this.#byOrigin.delete(oldest);
      this.#retire(idle.pool);
    }
    return kept.bounded;
  }

  #retire(pool: Pool): void {
    this.#closing.add(pool);
    pool.close().finally(() => this.#closing.delete(pool));
  }

  async destroy(): Promise<void> {
    const pools = [...Array.from(this.#byOrigin.values(), (kept) => kept.pool), ...this.#closing];
    this.#byOrigin.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
}
