/** Days of UTC as 2026-01-31, both within it; a side that is left out is open. */
export interface DayRange {
  from?: string | undefined;
  to?: string | undefined;
}

const dayMs = 86_400_000;

const dayOf = (moment: number): string => new Date(moment).toISOString().slice(0, 10);

/** The presets that a range is mostly chosen by; the first is what is shown at first. */
export function presets(now: Date): { name: string; range: DayRange }[] {
  const today = dayOf(now.getTime());
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const back = (days: number) => dayOf(now.getTime() - (days - 1) * dayMs);
  return [
    { name: "Last 30 days", range: { from: back(30), to: today } },
    { name: "Last 7 days", range: { from: back(7), to: today } },
    { name: "This month", range: { from: dayOf(Date.UTC(year, month, 1)), to: today } },
    { name: "Last month", range: { from: dayOf(Date.UTC(year, month - 1, 1)), to: dayOf(Date.UTC(year, month, 0)) } },
    { name: "This year", range: { from: dayOf(Date.UTC(year, 0, 1)), to: today } },
  ];
}

/** What was chosen; without a choice the first preset. */
export function chosenRange({ from, to }: DayRange, now: Date): DayRange {
  return from || to ? { from, to } : (presets(now)[0]?.range ?? {});
}

/** From the first moment of the first day to the last of the last one, as finely as the service counts. */
export const momentsOf = ({ from, to }: DayRange): { from?: string; to?: string } => ({
  ...(from && { from: `${from}T00:00:00Z` }),
  ...(to && { to: `${to}T23:59:59.999999Z` }),
});

export const isSame = (a: DayRange, b: DayRange): boolean => a.from === b.from && a.to === b.to;

/** As the dates of a form would have it. */
export const isBackwards = ({ from, to }: DayRange): boolean => Boolean(from && to && from > to);
