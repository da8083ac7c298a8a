import { datedListQuery, expensesQuery } from "@gantry/wire";
import { type ExpensesRequest, type Moment, readMoment, type TimeRange } from "../../features/billing/index.ts";
import { type Issue, throwIfAny } from "../../kernel/errors.ts";
import { schemaIssues } from "../../kernel/schema-issues.ts";
import { type PageQuery, queryIssues } from "../foundation/page-query.ts";

interface DatedList {
  page: PageQuery;
  /** Whether the client asked for a page rather than for the whole list. */
  wantsPage: boolean;
  range: TimeRange;
}

/** Everything wrong with the query comes in one fault. */
export function readDatedListQuery(query: unknown): DatedList {
  const given = Object(query) as Record<string, unknown>;
  const issues = queryIssues(datedListQuery, given);
  const from = readTime(given, "from_date", "datetime_parsing", issues);
  const to = readTime(given, "to_date", "datetime_parsing", issues);
  if (from !== undefined && to !== undefined && from > to) {
    issues.push({ type: "value_error", loc: ["query", "from_date"], msg: "from_date must not be after to_date" });
  }
  throwIfAny(issues);
  const wantsPage = given.page !== undefined || given.page_size !== undefined;
  return { page: datedListQuery.parse(given), wantsPage, range: { from, to } };
}

/** The specification answers an invalid query of this route with 400. */
export function readExpensesQuery(query: unknown): ExpensesRequest {
  const given = Object(query) as Record<string, unknown>;
  const issues: Issue[] = [];
  const start = readTime(given, "start_date", "invalid_parameters", issues);
  const end = readTime(given, "end_date", "invalid_parameters", issues);
  for (const { loc, msg } of schemaIssues(expensesQuery, given, ["query"])) {
    issues.push({ type: "invalid_parameters", loc, msg, input: given[String(loc[1])] });
  }
  throwIfAny(issues);
  return { start, end, page: expensesQuery.parse(given).page };
}

function readTime(
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
