import type { SeriesQuery } from "@gantry/sdk";
import { type DayRange, dayRange } from "../day-range.rules.ts";

export const rangeNames = ["24h", "7d", "30d", "90d"] as const;
export type RangeName = (typeof rangeNames)[number];

/** The ranges of charts that are added up from rows: the API allows 31 days. */
export const shortRangeNames: readonly RangeName[] = ["24h", "7d", "30d"];

/** What a chart shows: up to now, or days of UTC. */
export type ChartRange = { range: RangeName } | { from: string; to: string };

/** In search parameters. The default of the page stays out of the address. */
export type RangeSearch = { range?: RangeName } & DayRange;

export const rangeTitles: Readonly<Record<RangeName, string>> = {
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
  "90d": "90 days",
};

/** For a button. */
export const rangeLabel = (name: RangeName): string => name.replace(/(?=[hd]$)/, " ");

const hours: Readonly<Record<RangeName, number>> = { "24h": 24, "7d": 168, "30d": 720, "90d": 2160 };
const [hourMs, dayMs] = [3_600_000, 86_400_000];
const longestDays = 400;

/** Reads search parameters. Invalid ones, and days without both ends, are dropped. */
export function rangeSearch(params: Record<string, unknown>): RangeSearch {
  const { from, to } = dayRange(params);
  if (from && to && daysOf({ from, to }) <= longestDays) return { from, to };
  const range = rangeNames.find((name) => name === params.range);
  return range ? { range } : {};
}

export function chosenRange({ range, from, to }: RangeSearch, otherwise: RangeName): ChartRange {
  return from && to ? { from, to } : { range: range ?? otherwise };
}

function daysOf({ from, to }: { from: string; to: string }): number {
  return (Date.parse(to) - Date.parse(from)) / dayMs + 1;
}

/** The days that a custom range begins with: those that are shown already. */
export function daysShown(range: ChartRange, now: number): { from: string; to: string } {
  if (!("range" in range)) return range;
  const day = (at: number) => new Date(at).toISOString().slice(0, 10);
  return { from: day(now - (hours[range.range] - 1) * hourMs), to: day(now) };
}

/** `isFine`: hours rather than days for a week, which lines need and bars do not. */
export function rangeQuery(
  range: ChartRange,
  { now, isFine = false }: { now: number; isFine?: boolean },
): Required<Pick<SeriesQuery, "from_date" | "to_date" | "step">> {
  if ("range" in range) {
    const length = hours[range.range];
    const step = length <= 24 || (isFine && length <= 168) ? "hour" : "day";
    // The current step is the last of them.
    const earlier = step === "hour" ? (length - 1) * hourMs : length * hourMs - dayMs;
    return { from_date: new Date(now - earlier).toISOString(), to_date: new Date(now).toISOString(), step };
  }
  const days = daysOf(range);
  return {
    from_date: `${range.from}T00:00:00Z`,
    to_date: `${range.to}T23:59:59.999Z`,
    step: days <= (isFine ? 7 : 2) ? "hour" : "day",
  };
}

export function rangeText(range: ChartRange): string {
  if ("range" in range) return `last ${rangeTitles[range.range]}`;
  return range.from === range.to ? range.from : `${range.from} to ${range.to}`;
}
