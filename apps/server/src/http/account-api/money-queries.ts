import { datedListQuery, expensesQuery, managementPage, seriesQuery } from "@gantry/wire";
import type { Operation } from "@gantry/wire/operations";
import type { ExpensesRequest, TimeRange } from "../../features/billing/index.ts";
import type { SeriesRequest } from "../../features/series/index.ts";
import { type Issue, throwIfAny } from "../../kernel/errors.ts";
import { schemaIssues } from "../../kernel/schema-issues.ts";
import { type PageQuery, queryIssues } from "../foundation/page-query.ts";
import { readTime, timeRangeIn } from "../foundation/time-range.ts";

interface DatedList {
  page: PageQuery;
  /** Whether the client asked for a page rather than for the whole list. */
  wantsPage: boolean;
  range: TimeRange;
}

/** Everything wrong with the query comes in one fault. */
export function readDatedListQuery(
  query: unknown,
  schema: NonNullable<Operation["query"]> = datedListQuery,
): DatedList {
  const given = Object(query) as Record<string, unknown>;
  const issues = queryIssues(schema, given);
  const range = timeRangeIn(given, issues);
  throwIfAny(issues);
  const wantsPage = given.page !== undefined || given.page_size !== undefined;
  return { page: managementPage.parse(given), wantsPage, range };
}

interface SeriesQuery extends SeriesRequest {
  scope: "own" | "service";
  username: string | undefined;
}

export function readSeriesQuery(query: unknown): SeriesQuery {
  const given = Object(query) as Record<string, unknown>;
  const issues = queryIssues(seriesQuery, given);
  const from = readTime(given, "from_date", "datetime_parsing", issues);
  const to = readTime(given, "to_date", "datetime_parsing", issues);
  throwIfAny(issues);
  const { metric, step, group_by: groupBy, model, key_id: keyId, mode, scope, username } = seriesQuery.parse(given);
  if (scope === "service" && username !== undefined) {
    const msg = "scope=service covers all users. Leave out username.";
    throwIfAny([{ type: "value_error", loc: ["query", "username"], msg }]);
  }
  return { metric, from, to, step, groupBy, model, keyId, mode, scope, username };
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
