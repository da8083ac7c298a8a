import { Ring, type RingEntry } from "./ring.ts";

/** An item with a time limit. */
export interface Timed {
  /** Set by `add`. */
  since: number;
  /** Called after the item has been removed. */
  expire(): void;
}

export interface Deadlines {
  /** The item expires unless its entry leaves first. */
  add(item: Timed): RingEntry;
}

const longestTimerMs = 2 ** 31 - 1;
const mostLengths = 1000;

/**
 * Calls `expire` on items that are still present `ms` after they were added. All items have the same time limit, so
 * they expire in order: one ring and one timer serve thousands of them a second.
 */
export function createDeadlines(ms: number): Deadlines {
  const items = new Ring<Timed>();
  let timer: NodeJS.Timeout | undefined;

  function arm(): void {
    const oldest = items.first;
    if (timer || !oldest) return;
    const left = Math.max(1, oldest.since + ms - performance.now());
    timer = setTimeout(expireOldest, Math.min(left, longestTimerMs));
    timer.unref();
  }

  function expireOldest(): void {
    timer = undefined;
    const limit = performance.now() - ms + 1; // Timers may fire a fraction of a millisecond early.
    for (let oldest = items.first; oldest && oldest.since <= limit; oldest = items.first) {
      items.shift();
      oldest.expire();
    }
    arm();
  }

  return {
    add(item) {
      item.since = performance.now();
      const entry = items.add(item);
      if (!timer) arm();
      return entry;
    },
  };
}

/** Time limits of any length, for callers with few different ones. */
export function createDeadlinesByLength(): (ms: number) => Deadlines {
  const byLength = new Map<number, Deadlines>();
  return (ms) => {
    let deadlines = byLength.get(ms);
    if (!deadlines) {
      if (byLength.size >= mostLengths) byLength.clear();
      deadlines = createDeadlines(ms);
      byLength.set(ms, deadlines);
    }
    return deadlines;
  };
}
