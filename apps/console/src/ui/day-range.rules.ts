/** Days of UTC, as 2026-01-31; both belong to the range, and one that is left out bounds nothing. */
export interface DayRange {
  from?: string;
  to?: string;
}

const dayMs = 86_400_000;

const dayOf = (moment: Date | number): string => new Date(moment).toISOString().slice(0, 10);

function isDay(text: unknown): text is string {
  if (typeof text !== "string" || !/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const parsed = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && dayOf(parsed) === text;
}

/** What an address says of a range; what is no day, or an end before the beginning, says nothing. */
export function dayRange({ from, to }: Record<string, unknown>): DayRange {
  const isBackwards = isDay(from) && isDay(to) && from > to;
  return { ...(isDay(from) && { from }), ...(isDay(to) && !isBackwards && { to }) };
}

/** The end that was just chosen counts, and not a beginning behind it. */
export const endingAt = ({ from = "" }: DayRange, to: string): DayRange =>
  dayRange(to !== "" && to < from ? { to } : { from, to });

/** The first and the last moment of a range, as finely as the service counts. */
export function momentsOf({ from, to }: DayRange): { first: string | undefined; last: string | undefined } {
  return { first: from && `${from}T00:00:00Z`, last: to && `${to}T23:59:59.999999Z` };
}

export const isSameRange = (one: DayRange, other: DayRange): boolean => one.from === other.from && one.to === other.to;

/** The ranges that are mostly chosen. */
export function presets(now: Date): { name: string; range: DayRange }[] {
  const to = dayOf(now);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const lastDays = (days: number) => ({ from: dayOf(now.getTime() - (days - 1) * dayMs), to });
  return [
    { name: "Today", range: lastDays(1) },
    { name: "Last 7 days", range: lastDays(7) },
    { name: "Last 30 days", range: lastDays(30) },
    { name: "This month", range: { from: dayOf(Date.UTC(year, month, 1)), to } },
    { name: "Last month", range: { from: dayOf(Date.UTC(year, month - 1, 1)), to: dayOf(Date.UTC(year, month, 0)) } },
    { name: "This year", range: { from: dayOf(Date.UTC(year, 0, 1)), to } },
    { name: "All", range: {} },
  ];
}
