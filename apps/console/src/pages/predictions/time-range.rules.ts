import { type RangeName, type RangeSearch, rangeNames, rangeTitles } from "../../ui/chart/range.rules.ts";
import { momentsOf } from "../../ui/day-range.rules.ts";

const hours: Readonly<Record<RangeName, number>> = { "24h": 24, "7d": 168, "30d": 720, "90d": 2160 };

export const timeChoices = [
  ...rangeNames.map((name) => ({ value: name as string, label: `Last ${rangeTitles[name]}` })),
  { value: "custom", label: "Custom range" },
];

/** Undefined: no limit. */
export function listMoments(
  { range, from, to }: RangeSearch,
  now: number,
): { from_date: string | undefined; to_date: string | undefined } {
  if (range) return { from_date: new Date(now - hours[range] * 3_600_000).toISOString(), to_date: undefined };
  const { first, last } = momentsOf({ ...(from && { from }), ...(to && { to }) });
  return { from_date: first, to_date: last };
}
