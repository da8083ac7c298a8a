import type { Database } from "../../../engines/database/database.ts";
import { Register } from "../../../kernel/register.ts";
import { endedChannel } from "../store.ts";
import { fragmentsChannel } from "./fragments.ts";

/** Notifications about queued and followed predictions from all nodes. */
export interface PredictionFeed {
  /** Misses nothing from now on, so readers subscribe before their first query. */
  watch(id: string): Watch;
  /** This node shuts down: wakes all readers. */
  release(): void;
  readonly isReleased: boolean;
  stop(): Promise<void>;
}

export interface Watch {
  /** Resolves on a notification since the watch began or since the last call, or after the time. */
  next(milliseconds: number): Promise<void>;
  /** Must be called. */
  stop(): void;
}

/** A lost notification delays readers but loses no answer: readers also query at intervals. */
export async function startPredictionFeed(database: Database): Promise<PredictionFeed> {
  const watched = new Register<Set<FeedWatch>>();
  let isReleased = false;
  const notify = (payload: string) => {
    for (const id of payload.split(",")) for (const watch of watched.get(id) ?? []) watch.notify();
  };
  const notifyAll = () => {
    for (const watches of watched.all()) for (const watch of watches) watch.notify();
  };
  const listeners = [
    await database.listen(endedChannel, notify, notifyAll),
    await database.listen(fragmentsChannel, notify, notifyAll),
  ];

  return {
    watch(id) {
      const watches = watched.get(id) ?? new Set();
      watched.set(id, watches);
      const watch = new FeedWatch(() => {
        watches.delete(watch);
        if (watches.size === 0 && watched.get(id) === watches) watched.delete(id);
      });
      watches.add(watch);
      return watch;
    },
    release() {
      isReleased = true;
      notifyAll();
    },
    get isReleased() {
      return isReleased;
    },
    async stop() {
      notifyAll();
      for (const listener of listeners) await listener.stop();
    },
  };
}

class FeedWatch implements Watch {
  readonly #leave: () => void;
  #isNotified = false;
  #wake: (() => void) | undefined;

  constructor(leave: () => void) {
    this.#leave = leave;
  }

  notify(): void {
    this.#isNotified = true;
    this.#wake?.();
  }

  async next(milliseconds: number): Promise<void> {
    if (!this.#isNotified) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    this.#isNotified = false;
  }

  stop(): void {
    this.#leave();
  }
}
