import { type Moment, readMoment } from "../../features/billing/index.ts";
import type { Issue } from "../../kernel/errors.ts";

/** A date and time in the query; what is wrong with it goes to `issues` under the type that the route answers with. */
export function readTimeParameter(
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
