/** Days of UTC, as 2026-01-31; both belong to the range, and one that is left out bounds nothing. */
export interface DayRange {
  from?: string;
  to?: string;
}

const dayMs = 86_400_000;

export const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10);

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

/** The first and the last moment of a range. */
export function momentsOf({ from, to }: DayRange): { first: string | undefined; last: string | undefined } {
  return { first: from && `${from}T00:00:00Z`, last: to && `${to}T23:59:59.999999Z` };
}

/** So many days, today the last of them. */
export function lastDays(days: number, now: Date): Required<DayRange> {
  return { from: dayOf(new Date(now.getTime() - (days - 1) * dayMs)), to: dayOf(now) };
}

/** As "usage-from-2026-01-01-to-2026-01-31.csv". */
export function csvName({ from, to }: DayRange): string {
  const range = [from && `from-${from}`, to && `to-${to}`].filter((part) => part !== undefined);
  return `${["usage", ...range].join("-")}.csv`;
}
