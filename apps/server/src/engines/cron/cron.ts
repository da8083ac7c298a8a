/**
 * The cron port: when an expression is due, by the wall clock of a time zone. Drivers guarantee:
 * - an expression has five fields, so it is due at most once a minute, or is a nickname such as `@daily`;
 * - an expression with one minute and one hour is due once on each of its days. A time that the change to summer time
 *   skips is due when the gap ends; a time that occurs twice is due at its first occurrence;
 * - any other expression follows real time. Times in a gap are skipped, and both occurrences of a repeated hour are due.
 */
export interface Cron {
  /** What is wrong with the expression or the time zone, in a sentence for people. */
  check(wanted: CronTimes, now: Date): CronProblem | undefined;
  /** The first due times after a moment, in order. Fewer than `count` if the expression has no more. */
  next(wanted: CronTimes, after: Date, count: number): Date[];
  /** The last due time at or before a moment. */
  latest(wanted: CronTimes, until: Date): Date | undefined;
}

export interface CronTimes {
  cron: string;
  timezone: string;
}

export interface CronProblem {
  field: keyof CronTimes;
  message: string;
}
