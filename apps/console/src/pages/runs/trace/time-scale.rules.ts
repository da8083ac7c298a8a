/** Milliseconds since the start of the run. */
export interface Span {
  from: number;
  to: number;
}

export interface TimeScale {
  /** Position of a moment, in percent of the width. */
  at(ms: number): number;
  ticks: readonly { at: number; label: string }[];
  /** Shortened periods in which the run only waited. */
  breaks: readonly { left: number; width: number; ms: number }[];
}

interface Segment extends Span {
  isBreak: boolean;
  left: number;
  width: number;
}

/** A wait is shortened if it would take more than this share of the width, and takes it then. */
const waitShare = 0.25;
const wantedTicks = 5;

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 6, 12, 24].map((n) => n * hour),
];

const niceStep = (total: number): number =>
  steps.find((step) => total / step <= wantedTicks) ?? Math.ceil(total / wantedTicks / (24 * hour)) * 24 * hour;

/** The end of the axis of a live run: later than now, so that bars grow to the right and finished ones stay in place. */
export function liveEnd(elapsed: number): number {
  const step = niceStep(Math.max(elapsed, second) * 1.1);
  return (Math.floor(elapsed / step) + 1) * step;
}

/** `idle`: sorted and without overlaps. `end`: of the axis, after `idle`. */
export function timeScale(end: number, idle: readonly Span[]): TimeScale {
  const total = Math.max(end, 1);
  const waited = idle.reduce((sum, { from, to }) => sum + to - from, 0);
  const worked = total - waited;
  const isShortened = worked > 0 && waited / total > waitShare;
  const segments = cut(total, isShortened ? idle : []);
  let left = 0;
  for (const segment of segments) {
    const length = segment.to - segment.from;
    segment.left = left;
    segment.width = !isShortened
      ? (100 * length) / total
      : segment.isBreak
        ? (100 * waitShare * length) / waited
        : (100 * (1 - waitShare) * length) / worked;
    left += segment.width;
  }
  const at = (ms: number) => {
    const within = Math.min(Math.max(ms, 0), total);
    const segment = segments.find(({ to }) => within <= to) ?? segments.at(-1);
    if (!segment || segment.to === segment.from) return 0;
    return segment.left + (segment.width * (within - segment.from)) / (segment.to - segment.from);
  };
  const shown = isShortened ? worked : total;
  return {
    at,
    ticks: ticksOf(shown, (ms) => at(isShortened ? inElapsed(ms, segments) : ms)),
    breaks: segments
      .filter(({ isBreak }) => isBreak)
      .map((segment) => ({ left: segment.left, width: segment.width, ms: segment.to - segment.from })),
  };
}

function cut(total: number, breaks: readonly Span[]): Segment[] {
  const segments: Segment[] = [];
  let from = 0;
  const add = (to: number, isBreak: boolean) => {
    if (to > from) segments.push({ from, to, isBreak, left: 0, width: 0 });
    from = Math.max(from, to);
  };
  for (const span of breaks) {
    add(span.from, false);
    add(span.to, true);
  }
  add(total, false);
  return segments;
}

/** With shortened waits the axis counts the time outside of them. */
function inElapsed(worked: number, segments: readonly Segment[]): number {
  let left = worked;
  for (const { from, to, isBreak } of segments) {
    if (isBreak) continue;
    if (left <= to - from) return from + left;
    left -= to - from;
  }
  return segments.at(-1)?.to ?? 0;
}

function ticksOf(total: number, at: (ms: number) => number): TimeScale["ticks"] {
  const step = niceStep(total);
  return Array.from({ length: Math.floor(total / step) + 1 }, (_, n) => ({
    at: at(n * step),
    label: tickLabel(n * step),
  }));
}

/** Of the width, for one character and the gap after a label, on the narrowest axis. */
const [characterShare, gapShare] = [3.3, 2];

/** Ticks whose labels fit beside each other. Shortened waits move ticks together. */
export function labelled(ticks: TimeScale["ticks"]): TimeScale["ticks"] {
  let free = 0;
  return ticks.filter(({ at, label }) => {
    const end = at + label.length * characterShare;
    if (at < free || end > 100) return false;
    free = end + gapShare;
    return true;
  });
}

function tickLabel(ms: number): string {
  if (ms === 0) return "0";
  if (ms < second) return `${ms} ms`;
  if (ms < minute) return `${ms / second} s`;
  if (ms < hour) return join([Math.floor(ms / minute), "m"], [(ms % minute) / second, "s"]);
  return join([Math.floor(ms / hour), "h"], [(ms % hour) / minute, "m"]);
}

const join = (...parts: [number, string][]): string =>
  parts
    .filter(([n]) => n > 0)
    .map(([n, unit]) => `${n} ${unit}`)
    .join(" ");

/** The spans merged, sorted and without overlaps. */
export function union(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of spans.filter(({ from, to }) => to > from).toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else merged.push({ ...span });
  }
  return merged;
}

/** What of `spans` is outside of `others`. */
export function without(spans: readonly Span[], others: readonly Span[]): Span[] {
  const cuts = union(others);
  return union(spans).flatMap((span) => {
    const left: Span[] = [];
    let from = span.from;
    for (const other of cuts) {
      if (other.to <= from || other.from >= span.to) continue;
      if (other.from > from) left.push({ from, to: other.from });
      from = Math.max(from, other.to);
    }
    if (from < span.to) left.push({ from, to: span.to });
    return left;
  });
}
