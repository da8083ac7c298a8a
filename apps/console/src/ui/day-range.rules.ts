/** UTC days such as 2026-01-31, both inclusive. A missing end is open. */
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

/** Reads a range from search parameters. Drops invalid days, and an end before the start. */
export function dayRange({ from, to }: Record<string, unknown>): DayRange {
  const isBackwards = isDay(from) && isDay(to) && from > to;
  return { ...(isDay(from) && { from }), ...(isDay(to) && !isBackwards && { to }) };
}

/** Drops the start if the new end is before it. */
export const endingAt = ({ from = "" }: DayRange, to: string): DayRange =>
  dayRange(to !== "" && to < from ? { to } : { from, to });

/** In microseconds, the resolution of the API. */
export function momentsOf({ from, to }: DayRange): { first: string | undefined; last: string | undefined } {
  return { first: from && `${from}T00:00:00Z`, last: to && `${to}T23:59:59.999999Z` };
}

export const isSameRange = (a: DayRange, b: DayRange): boolean => a.from === b.from && a.to === b.to;

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
