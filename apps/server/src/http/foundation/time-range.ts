import { type Moment, readMoment, type TimeRange } from "../../features/billing/index.ts";
import { type Issue, throwIfAny } from "../../kernel/errors.ts";

/** Reads `from_date` and `to_date` of a query. Adds what is wrong with them to the issues. */
export function timeRangeIn(given: Record<string, unknown>, issues: Issue[]): TimeRange {
  const from = readTime(given, "from_date", "datetime_parsing", issues);
  const to = readTime(given, "to_date", "datetime_parsing", issues);
  if (from !== undefined && to !== undefined && from > to) {
    issues.push({ type: "value_error", loc: ["query", "from_date"], msg: "from_date must not be after to_date" });
  }
  return { from, to };
}

export function readTimeRange(given: Record<string, unknown>): TimeRange {
  const issues: Issue[] = [];
  const range = timeRangeIn(given, issues);
  throwIfAny(issues);
  return range;
}

export function readTime(
  query: Record<string, unknown>,
  name: string,
  type: Issue["type"],
  issues: Issue[],
): Moment | undefined {
  const text = query[name];
  if (text === undefined) return undefined;
  // A parameter given twice arrives as a list.
  const moment = typeof text === "string" ? readMoment(text) : undefined;
  if (moment === undefined) {
    const msg = "The value must be one ISO 8601 date and time, as 2026-01-31T23:59:59 (UTC unless it has a zone)";
    issues.push({ type, loc: ["query", name], msg, input: text });
  }
  return moment;
}
