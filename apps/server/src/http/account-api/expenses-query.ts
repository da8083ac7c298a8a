import { expensesQuery } from "@gantry/wire";
import type { ExpensesRequest } from "../../features/billing/index.ts";
import { type Issue, throwIfAny } from "../../kernel/errors.ts";
import { schemaIssues } from "../../kernel/schema-issues.ts";
import { readTimeParameter } from "./time-parameter.ts";

/** What is wrong with the query of this one route is a 400; all faults come together. */
export function readExpensesQuery(query: unknown): ExpensesRequest {
  const given = (query ?? {}) as Record<string, unknown>;
  const issues: Issue[] = [];
  const start = readTimeParameter(given, "start_date", "invalid_parameters", issues);
  const end = readTimeParameter(given, "end_date", "invalid_parameters", issues);
  for (const { loc, msg } of schemaIssues(expensesQuery, given, ["query"])) {
    issues.push({ type: "invalid_parameters", loc, msg, input: given[String(loc[1])] });
  }
  throwIfAny(issues);
  return { start, end, page: expensesQuery.parse(given).page };
}
