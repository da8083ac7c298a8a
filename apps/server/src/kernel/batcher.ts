interface Waiting<In, Out> {
  item: In;
  resolve(out: Out): void;
  reject(error: unknown): void;
}

export interface Batcher<In, Out> {
  add(item: In): Promise<Out>;
}

/**
 * Group commit: whatever arrives while one batch is under way goes into the next, in order of arrival. An item that
 * comes alone on an idle server waits for nothing but the end of the current turn of the event loop.
 *
 * When a whole batch fails for a reason that one bad item could be guilty of (`blameItem`), its items are tried one
 * by one, so that only the guilty one fails.
 */
export function createBatcher<In, Out>(options: {
  /** One answer an item; where an answer is a promise, the item waits for it and the next batch does not. */
  run(items: readonly In[]): Promise<readonly (Out | Promise<Out>)[]>;
  maxItems: number;
  blameItem(error: unknown): boolean;
  /** How long a batch may wait for more, for items that are in no hurry. Not at all unless told. */
  gatherMs?(): number;
}): Batcher<In, Out> {
  let waiting: Waiting<In, Out>[] = [];
  let underWay = false;

  async function attempt(batch: readonly Waiting<In, Out>[]): Promise<void> {
    try {
      const results = await options.run(batch.map((one) => one.item));
      if (results.length !== batch.length) throw new Error("a batch answered another number of items");
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
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
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
