import { sleep } from "./sleep.ts";

interface Waiting<In, Out> {
  item: In;
  resolve(out: Out): void;
  reject(error: unknown): void;
}

export interface Batcher<In, Out> {
  add(item: In): Promise<Out>;
}

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

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const pauseMs = options.gatherMs?.() ?? 0;
      if (pauseMs > 0) await sleep(pauseMs);
      const batch = waiting.slice(0, options.maxItems);
      waiting = waiting.slice(options.maxItems);
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
