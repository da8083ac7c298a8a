export interface CsvRange {
  from_date: string;
  /** Included. */
  to_date: string;
}

/** A chart ends before `to_date`, a list includes it. Times of predictions are microseconds. */
export const csvRange = ({ from_date, to_date }: CsvRange): CsvRange => ({
  from_date,
  to_date: new Date(Date.parse(to_date) - 1).toISOString().replace("Z", "999Z"),
});

/** For example "usage-from-2026-01-01-to-2026-01-31.csv". */
export const csvName = ({ from_date, to_date }: CsvRange): string =>
  `usage-from-${from_date.slice(0, 10)}-to-${to_date.slice(0, 10)}.csv`;
