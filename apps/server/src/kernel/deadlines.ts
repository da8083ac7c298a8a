/** Something that is given up when its time has passed. */
export interface Timed {
  since: number;
  expire(): void;
}

export interface Deadlines {
  add(item: Timed): void;
  remove(item: Timed): void;
}

const longestTimerMs = 2 ** 31 - 1;
const mostLengths = 1000;

/**
 * Calls `expire` on whatever is still held `ms` after it was added. All items live equally long, so they expire in the
 * order in which they came: a set in insertion order and one timer do for thousands of them a second.
 */
export function createDeadlines(ms: number): Deadlines {
  const held = new Set<Timed>();
  let timer: NodeJS.Timeout | undefined;

  function arm(): void {
    const [oldest] = held;
    if (timer || !oldest) return;
    const left = Math.max(1, oldest.since + ms - performance.now());
    timer = setTimeout(expireOldest, Math.min(left, longestTimerMs));
    timer.unref();
  }

  function expireOldest(): void {
    timer = undefined;
    const limit = performance.now() - ms + 1; // timers may fire a fraction of a millisecond early
    for (const item of held) {
      if (item.since > limit) break;
      held.delete(item);
      item.expire();
    }
    arm();
  }

  return {
    add(item) {
      item.since = performance.now();
      held.add(item);
      if (!timer) arm();
    },
    remove: (item) => void held.delete(item),
  };
}

/**
 * Deadlines of any length, for what has few different ones. An item is removed from where it was added, which need not
 * be what the same length gives later.
 */
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
