import type { ExpensesRequest } from "../../features/billing/index.ts";
import { type Issue, throwIfAny } from "../../kernel/errors.ts";
import { readTimeParameter } from "./time-parameter.ts";

/** What is wrong with the query of this one route is a 400; all faults come together. */
export function readExpensesQuery(query: unknown): ExpensesRequest {
  const given = (query ?? {}) as Record<string, unknown>;
  const issues: Issue[] = [];
  const start = readTimeParameter(given, "start_date", "invalid_parameters", issues);
  const end = readTimeParameter(given, "end_date", "invalid_parameters", issues);
  const page = readPage(given.page, issues);
  throwIfAny(issues);
  return { start, end, page };
}

function readPage(text: unknown, issues: Issue[]): number {
  if (text === undefined) return 1;
  const wrong = (msg: string): number => {
    issues.push({ type: "invalid_parameters", loc: ["query", "page"], msg, input: text });
    return 1;
  };
  // A parameter given twice arrives as a list.
  if (typeof text !== "string" || !/^[+-]?\d+$/.test(text)) return wrong("The value must be a whole number");
  const page = Number(text);
  if (page < 1) return wrong("The value must be at least 1");
  if (!Number.isSafeInteger(page)) return wrong(`The value must be at most ${Number.MAX_SAFE_INTEGER}`);
  return page;
}
