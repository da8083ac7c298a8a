import type { Database } from "../../../engines/database/database.ts";
import { Register } from "../../../kernel/register.ts";
import { fragmentsChannel } from "../execution/fragments.ts";
import { endedChannel } from "../store.ts";

export interface EndedNotices {
  /** From now on nothing about the prediction is missed, so it is asked for before the reader's own look. */
  watch(id: string): Watch;
  /** This node goes down: whoever waits is to wait no longer. */
  release(): void;
  readonly isReleased: boolean;
  stop(): Promise<void>;
}

export interface Watch {
  /** Resolves when there may be news since the watch began or since the last call, at the latest after the time. */
  next(milliseconds: number): Promise<void>;
  /** Must be called. */
  stop(): void;
}

/** News of queued and of followed predictions from all nodes. A lost notice costs a wait, never an answer: readers look for themselves. */
export async function startEndedNotices(database: Database): Promise<EndedNotices> {
  const watched = new Register<Set<NoticeWatch>>();
  let isReleased = false;
  const tell = (payload: string) => {
    for (const id of payload.split(",")) for (const watch of watched.get(id) ?? []) watch.tell();
  };
  const tellAll = () => {
    for (const watches of watched.all()) for (const watch of watches) watch.tell();
  };
  const listeners = [
    await database.listen(endedChannel, tell, tellAll),
    await database.listen(fragmentsChannel, tell, tellAll),
  ];

  return {
    watch(id) {
      const watches = watched.get(id) ?? new Set();
      watched.set(id, watches);
      const watch = new NoticeWatch(() => {
        watches.delete(watch);
        if (watches.size === 0 && watched.get(id) === watches) watched.delete(id);
      });
      watches.add(watch);
      return watch;
    },
    release() {
      isReleased = true;
      tellAll();
    },
    get isReleased() {
      return isReleased;
    },
    async stop() {
      tellAll();
      for (const listener of listeners) await listener.stop();
    },
  };
}

class NoticeWatch implements Watch {
  readonly #leave: () => void;
  #hasNews = false;
  #wake: (() => void) | undefined;

  constructor(leave: () => void) {
    this.#leave = leave;
  }

  tell(): void {
    this.#hasNews = true;
    this.#wake?.();
  }

  async next(milliseconds: number): Promise<void> {
    if (!this.#hasNews) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    this.#hasNews = false;
  }

  stop(): void {
    this.#leave();
  }
}
