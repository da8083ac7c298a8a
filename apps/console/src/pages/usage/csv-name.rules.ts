import type { DayRange } from "../../ui/day-range.rules.ts";

/** For example "usage-from-2026-01-01-to-2026-01-31.csv". */
export function csvName({ from, to }: DayRange): string {
  const range = [from && `from-${from}`, to && `to-${to}`].filter((part) => part !== undefined);
  return `${["usage", ...range].join("-")}.csv`;
}
