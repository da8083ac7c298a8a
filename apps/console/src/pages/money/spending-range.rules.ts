import type { ChartRange } from "../../ui/chart/range.rules.ts";
import type { DayRange } from "../../ui/day-range.rules.ts";

const dayMs = 86_400_000;
/** A chart shows at most 400 days. */
const mostDays = 400;

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The days of the page as far as a chart can show them: its last 400 days, or 90 days up to now without a start. */
export function spendingRange({ from, to }: DayRange, now: number): ChartRange {
  if (from === undefined && to === undefined) return { range: "90d" };
  const last = to ?? dayOf(now);
  const earliest = dayOf(Date.parse(last) - (from === undefined ? 89 : mostDays - 1) * dayMs);
  const first = from === undefined || from < earliest ? earliest : from;
  return first > last ? { from: last, to: last } : { from: first, to: last };
}
