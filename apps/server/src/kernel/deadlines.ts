import { type Place, Ring } from "./ring.ts";

/** Something that is given up when its time has passed. */
export interface Timed {
  /** Set when it is added. */
  since: number;
  /** It has left. */
  expire(): void;
}

export interface Deadlines {
  /** It expires unless it leaves before. */
  add(item: Timed): Place;
}

const longestTimerMs = 2 ** 31 - 1;
const mostLengths = 1000;

/**
 * Calls `expire` on whatever is still held `ms` after it was added. All items live equally long, so they expire in the
 * order in which they came: a ring and one timer do for thousands of them a second.
 */
export function createDeadlines(ms: number): Deadlines {
  const held = new Ring<Timed>();
  let timer: NodeJS.Timeout | undefined;

  function arm(): void {
    const oldest = held.first;
    if (timer || !oldest) return;
    const left = Math.max(1, oldest.since + ms - performance.now());
    timer = setTimeout(expireOldest, Math.min(left, longestTimerMs));
    timer.unref();
  }

  function expireOldest(): void {
    timer = undefined;
    const limit = performance.now() - ms + 1; // timers may fire a fraction of a millisecond early
    for (let oldest = held.first; oldest && oldest.since <= limit; oldest = held.first) {
      held.shift();
      oldest.expire();
    }
    arm();
  }

  return {
    add(item) {
      item.since = performance.now();
      const place = held.add(item);
      if (!timer) arm();
      return place;
    },
  };
}

/** Deadlines of any length, for what has few different ones. */
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
