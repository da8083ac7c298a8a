const dayMs = 86_400_000;

export interface Day {
  start: string;
  end: string;
  /** As "3 Nov". */
  title: string;
}

/** Days as the service counts them, in UTC, today last. */
export function lastDays(n: number, now: Date): Day[] {
  const today = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());
  return Array.from({ length: n }, (_, index) => {
    const start = new Date(today - (n - 1 - index) * dayMs);
    const title = start.toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
    return { start: start.toISOString(), end: new Date(start.getTime() + dayMs - 1).toISOString(), title };
  });
}
