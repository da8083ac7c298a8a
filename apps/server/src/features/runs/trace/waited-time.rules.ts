/** From and to, in milliseconds. */
export type Interval = readonly [from: number, to: number];

export interface TimeSpent {
  workedMs: number;
  waitedMs: number;
}

/**
 * Divides the time of a run: `waited` is the time in which something waited (in the queue, or for a confirmation) and
 * nothing was busy (model calls and tools); `worked` is the rest. Parallel work counts once.
 */
export function timeSpent(
  within: Interval,
  { waiting, busy }: { waiting: readonly Interval[]; busy: readonly Interval[] },
): TimeSpent {
  const whole = clamp([within], within);
  const waits = united(clamp(waiting, within));
  const waitedMs = length(waits) - length(common(waits, united(clamp(busy, within))));
  return { waitedMs, workedMs: length(whole) - waitedMs };
}

/** Whole milliseconds, so that sums are exact. The clock may have been set back, so intervals may be reversed. */
function clamp(intervals: readonly Interval[], [first, last]: Interval): Interval[] {
  const bounded = (at: number) => Math.round(Math.min(Math.max(at, first), Math.max(first, last)));
  return intervals.map(([from, to]) => [bounded(from), bounded(to)] as const).filter(([from, to]) => to > from);
}

/** Sorted and without overlaps. */
function united(intervals: readonly Interval[]): Interval[] {
  const all: [number, number][] = [];
  for (const [from, to] of intervals.toSorted(([a], [b]) => a - b)) {
    const last = all.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else all.push([from, to]);
  }
  return all;
}

/** The overlaps of two lists that are sorted and without overlaps. */
function common(some: readonly Interval[], others: readonly Interval[]): Interval[] {
  const all: Interval[] = [];
  for (let i = 0, k = 0; i < some.length && k < others.length; ) {
    const [a, b] = [some[i] as Interval, others[k] as Interval];
    const overlap: Interval = [Math.max(a[0], b[0]), Math.min(a[1], b[1])];
    if (overlap[1] > overlap[0]) all.push(overlap);
    if (a[1] < b[1]) i++;
    else k++;
  }
  return all;
}

function length(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, [from, to]) => sum + to - from, 0);
}
