import type { SeriesRecord, SeriesStep, SeriesUnit } from "@gantry/sdk";
import { count, money, seconds } from "../format.ts";

export type ChartKind = "bars" | "line";

/** Amounts of a step stack up to their sum. Levels and percentiles, and tokens with their cached part, do not. */
export function kindOf({ metric, group_by }: Pick<SeriesRecord, "metric" | "group_by">): ChartKind {
  const adds = metric === "spend" || metric === "requests" || metric === "errors";
  return adds || (metric === "tokens" && group_by !== "none") ? "bars" : "line";
}

const words: Readonly<Record<string, string>> = {
  spend: "Spend",
  requests: "Requests",
  errors: "Errors",
  queue: "Waiting",
  running: "Running",
  nodes: "Servers",
  input: "Input",
  output: "Output",
  cached: "Cached input",
  average: "Average",
  peak: "Peak",
  lowest: "Lowest",
  other: "Other",
  succeeded: "Succeeded",
  failed: "Failed",
  cancelled: "Cancelled",
  sync: "Sync",
  stream: "Streamed",
  async: "Queued",
  agent: "Agent",
};

/** Names of models and keys are shown as they are: a key may be called "agent". */
export function seriesName({ group_by }: Pick<SeriesRecord, "group_by">, name: string): string {
  if (group_by === "model" || group_by === "key") return name === "other" ? "Other" : name || "Unnamed key";
  return words[name] ?? name;
}

const colours: Readonly<Record<string, string>> = {
  errors: "--bad",
  failed: "--bad",
  succeeded: "--chart-3",
  cancelled: "--chart-rest",
  other: "--chart-rest",
  p50: "--chart-2",
  p95: "--chart-1",
  input: "--chart-2",
  output: "--chart-1",
  cached: "--chart-6",
  average: "--chart-2",
  peak: "--chart-1",
  lowest: "--chart-1",
  requests: "--chart-2",
  queue: "--chart-5",
  running: "--chart-3",
  nodes: "--chart-2",
};
const palette = 8;

/** Places in the palette of the models and keys that charts have shown. */
export type KnownColours = Map<string, number>;

/** The CSS variable of each series. A status, model or key keeps its colour in every chart, if no other has taken it. */
export function coloursOf({ group_by, series }: SeriesRecord, known: KnownColours): string[] {
  const isFree = (name: string) => (group_by === "model" || group_by === "key") && name !== "other";
  const used = new Set<number>();
  return series.map(({ name, id }) => {
    if (!isFree(name) && colours[name] !== undefined) return colours[name];
    const key = `${group_by} ${id ?? name}`;
    const place = freePlace(known.get(key) ?? known.size, used);
    if (!known.has(key)) known.set(key, place);
    used.add(place);
    return `--chart-${place + 1}`;
  });
}

/** The wanted place, or the next that the chart has not used. */
function freePlace(wanted: number, used: ReadonlySet<number>): number {
  for (let step = 0; step < palette; step++) {
    const place = (wanted + step) % palette;
    if (!used.has(place)) return place;
  }
  return wanted % palette;
}

const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** For a tooltip or a table: exact. */
export function valueText(value: number | null, unit: SeriesUnit): string {
  if (value === null) return "–";
  if (unit === "dollars") return money(value);
  if (unit === "seconds") return seconds(value);
  return Number.isInteger(value) ? count(value) : value.toFixed(1);
}

/** For an axis: short, with as many decimals as its steps need. */
export function axisText(value: number, unit: SeriesUnit, tickStep: number): string {
  if (unit === "dollars") {
    if (value >= 10_000) return `$${compact.format(value).replace("K", "k")}`;
    const decimals =
      tickStep >= 1 || tickStep <= 0 ? 0 : Math.min(6, Math.max(2, Math.ceil(-Math.log10(tickStep) - 1e-9)));
    return `$${value.toLocaleString("en-US", { minimumFractionDigits: value === 0 ? 0 : decimals, maximumFractionDigits: decimals })}`;
  }
  if (unit === "seconds") return secondsOnAxis(value);
  return value >= 1_000 ? compact.format(value).replace("K", "k") : String(Math.round(value * 100) / 100);
}

function secondsOnAxis(value: number): string {
  if (value === 0) return "0";
  if (value < 1) return `${Number((value * 1000).toPrecision(3))} ms`;
  if (value < 120) return `${Number(value.toPrecision(3))} s`;
  return `${Number((value / 60).toPrecision(3))} min`;
}

const formats = {
  clock: new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" }),
  localDay: new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" }),
  utcDay: new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" }),
  moment: new Intl.DateTimeFormat(undefined, {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  }),
  wholeDay: new Intl.DateTimeFormat(undefined, {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    timeZone: "UTC",
  }),
};

/** Days are those of UTC, like on a bill. Hours and minutes are shown in local time. */
export function tickText(time: string, step: SeriesStep): string {
  const at = new Date(time);
  if (step === "day") return formats.utcDay.format(at);
  const isMidnight = at.getHours() === 0 && at.getMinutes() === 0;
  return isMidnight ? formats.localDay.format(at) : formats.clock.format(at);
}

const longestByClock = 48 * 3_600_000;

/** The label of a step on the axis. Times of day say little over several days: only the first step of each has one. */
export function axisTick({ times, step }: Pick<SeriesRecord, "times" | "step">, index: number): string | undefined {
  const time = times[index];
  const [first = "", last = ""] = [times[0], times.at(-1)];
  if (time === undefined) return undefined;
  if (step === "day" || Date.parse(last) - Date.parse(first) <= longestByClock) return tickText(time, step);
  const day = formats.localDay.format(new Date(time));
  const before = times[index - 1];
  return before !== undefined && formats.localDay.format(new Date(before)) !== day ? day : undefined;
}

export function stepText(time: string, step: SeriesStep): string {
  const at = new Date(time);
  return step === "day" ? `${formats.wholeDay.format(at)} (UTC)` : formats.moment.format(at);
}

/** One step as a sentence, for screen readers. */
export function stepValues(data: SeriesRecord, index: number): string {
  const values = data.series.map(
    ({ name, values: all }) => `${seriesName(data, name)} ${valueText(all[index] ?? null, data.unit)}`,
  );
  return [stepText(data.times[index] ?? "", data.step), ...values].join(", ");
}

/** What a legend hides does not count. Undefined if the values of a step do not add up to anything. */
export function sumAt(data: SeriesRecord, index: number, hidden: ReadonlySet<string>): number | undefined {
  const shown = data.series.filter(({ name, id }) => !hidden.has(id ?? name));
  if (kindOf(data) !== "bars" || shown.length < 2) return undefined;
  // In millionths, because dollars do not add up exactly.
  const micros = shown.reduce((sum, { values }) => sum + Math.round((values[index] ?? 0) * 1e6), 0);
  return micros / 1e6;
}

export const isEmpty = ({ series }: SeriesRecord): boolean =>
  series.every(({ values }) => values.every((value) => value === null || value === 0));

/** A line needs a value at least once, a chart of levels may be 0 all the time. */
export const hasNothingToShow = (data: SeriesRecord): boolean =>
  kindOf(data) === "bars" || data.unit === "tokens"
    ? isEmpty(data)
    : data.series.every(({ values }) => values.every((value) => value === null));

/** Some of the range was recorded by a version that did not keep these figures. */
export const hasUnknown = (data: SeriesRecord): boolean =>
  kindOf(data) === "bars" && data.series.some(({ values }) => values.includes(null));
