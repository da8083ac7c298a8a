import type { ChartRange } from "../../ui/chart/range.rules.ts";
import type { DayRange } from "../../ui/day-range.rules.ts";

const dayMs = 86_400_000;
/** How many days a chart shows at most, and without a start. Usage of single keys is added up from rows. */
const days = {
  all: { most: 400, usual: 90, range: "90d" },
  own: { most: 31, usual: 30, range: "30d" },
} as const;

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The days of the page as far as a chart can show them. `seesAll`: not only the usage of some keys. */
export function spendingRange({ from, to }: DayRange, now: number, seesAll = true): ChartRange {
  const { most, usual, range } = days[seesAll ? "all" : "own"];
  if (from === undefined && to === undefined) return { range };
  const last = to ?? dayOf(now);
  const earliest = dayOf(Date.parse(last) - ((from === undefined ? usual : most) - 1) * dayMs);
  const first = from === undefined || from < earliest ? earliest : from;
  return first > last ? { from: last, to: last } : { from: first, to: last };
}
