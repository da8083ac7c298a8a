import { type buildConnector, type Dispatcher, Pool } from "undici";
import { BoundedExchange, type BoundedOptions } from "./bounded-exchange.ts";

interface PoolOptions {
  connect: buildConnector.connector;
  maxOrigins: number;
  maxConnectionsPerOrigin: number;
  maxHeaderBytes: number;
}

/**
 * A pool as callers see it: whatever goes through it obeys its bounds. (Not `pool.compose`, which copies the options of
 * every call.)
 */
export class BoundedPool {
  readonly pool: Pool;

  constructor(pool: Pool) {
    this.pool = pool;
  }

  dispatch(options: Dispatcher.DispatchOptions & BoundedOptions, handler: Dispatcher.DispatchHandler): void {
    this.pool.dispatch(options, new BoundedExchange(handler, options.bounds, options.stopSignal));
  }
}

/**
 * One pool of kept connections an origin, the least recently used one closed when there are too many: users choose the
 * origins, so their number must not. A closed pool still ends what it runs.
 */
export class Pools {
  readonly #options: PoolOptions;
  readonly #byOrigin = new Map<string, BoundedPool>();
  #lastOrigin = "";
  readonly #closing = new Set<Pool>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  for(origin: string): BoundedPool {
    const known = this.#byOrigin.get(origin);
    if (known) {
      // A Map keeps the order of insertion: the first one is the one not used for longest.
      if (origin !== this.#lastOrigin) {
        this.#byOrigin.delete(origin);
        this.#byOrigin.set(origin, known);
        this.#lastOrigin = origin;
      }
      return known;
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
    const kept = new BoundedPool(pool);
    this.#byOrigin.set(origin, kept);
    this.#lastOrigin = origin;
    for (const [oldest, idle] of this.#byOrigin) {
      if (this.#byOrigin.size <= this.#options.maxOrigins) break;
      this.#byOrigin.delete(oldest);
      this.#retire(idle.pool);
    }
    return kept;
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
