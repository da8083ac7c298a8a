import { sleep } from "./sleep.ts";

interface Waiting<In, Out> {
  item: In;
  resolve(out: Out): void;
  reject(error: unknown): void;
}

export interface Batcher<In, Out> {
  add(item: In): Promise<Out>;
}

/** In characters: a statement of PostgreSQL must stay well below a gigabyte, escapes included. */
const mostWeight = 16 * 1024 * 1024;

/**
 * Group commit: items that arrive during a batch form the next one, in order of arrival. On an idle server an item
 * waits only for the end of the current tick.
 *
 * If a batch fails for a reason that a single item may have caused (`blameItem`), its items are retried one by one, so
 * that only the faulty one fails.
 */
export function createBatcher<In, Out>(options: {
  /** Returns one result per item. An item waits for a result that is a promise; the next batch does not. */
  run(items: readonly In[]): Promise<readonly (Out | Promise<Out>)[]>;
  maxItems: number;
  /** The size of an item. A batch ends with the item that makes it heavier than `mostWeight`. */
  weigh?(item: In): number;
  blameItem(error: unknown): boolean;
  /** How long a batch waits for more items. Default: not at all. */
  gatherMs?(): number;
}): Batcher<In, Out> {
  let waiting: Waiting<In, Out>[] = [];
  let underWay = false;

  async function attempt(batch: readonly Waiting<In, Out>[]): Promise<void> {
    try {
      const results = await options.run(batch.map((one) => one.item));
      if (results.length !== batch.length) throw new Error("a batch returned a different number of results");
      batch.forEach((one, index) => {
        one.resolve(results[index] as Out);
      });
    } catch (error) {
      if (batch.length > 1 && options.blameItem(error)) {
        for (const one of batch) await attempt([one]);
      } else {
        for (const one of batch) one.reject(error);
      }
    }
  }

  function lightItems(): number {
    const { weigh } = options;
    if (!weigh) return waiting.length;
    let weight = 0;
    const last = waiting.findIndex(({ item }) => {
      weight += weigh(item);
      return weight > mostWeight;
    });
    return last === -1 ? waiting.length : last + 1;
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const pauseMs = options.gatherMs?.() ?? 0;
      if (pauseMs > 0) await sleep(pauseMs);
      const items = Math.min(options.maxItems, lightItems());
      const batch = waiting.slice(0, items);
      waiting = waiting.slice(items);
      await attempt(batch);
      if (waiting.length > 0) await new Promise(setImmediate);
    }
    underWay = false;
  }

  return {
    add(item) {
      return new Promise<Out>((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        if (underWay) return;
        underWay = true;
        setImmediate(() => void drain());
      });
    },
  };
}
