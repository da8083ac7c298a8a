import { momentsOf } from "../../ui/day-range.rules.ts";

const dayMs = 86_400_000;

/** UTC days, today last, with titles such as "3 Nov". */
export function lastDays(n: number, now: Date) {
  return Array.from({ length: n }, (_, index) => {
    const moment = new Date(now.getTime() - (n - 1 - index) * dayMs);
    const day = moment.toISOString().slice(0, 10);
    const title = moment.toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
    return { day, title, ...momentsOf({ from: day, to: day }) };
  });
}
