/** Something that is given up when its time has passed. */
export interface Timed {
  since: number;
  expire(): void;
}

export interface Deadlines {
  add(item: Timed): void;
  remove(item: Timed): void;
}

/**
 * Calls `expire` on whatever is still held `ms` after it was added. All items live equally long, so they expire in the
 * order in which they came: a set in insertion order and one timer do for thousands of queries a second.
 */
export function createDeadlines(ms: number): Deadlines {
  const held = new Set<Timed>();
  let timer: NodeJS.Timeout | undefined;

  function arm(): void {
    const [oldest] = held;
    if (timer || !oldest) return;
    timer = setTimeout(expireOldest, Math.max(1, oldest.since + ms - performance.now()));
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
