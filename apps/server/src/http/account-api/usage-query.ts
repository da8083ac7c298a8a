import { usageQuery } from "@gantry/wire";
import type { UsageFilter } from "../../features/billing/index.ts";
import { Fault, type Issue, throwIfAny } from "../../kernel/errors.ts";
import { type PageQuery, readPageQuery } from "../foundation/page-query.ts";
import { readTimeParameter } from "./time-parameter.ts";

export interface UsageQuery {
  page: PageQuery;
  /** Whether the client asked for a page, and not for the list as such. */
  wantsPage: boolean;
  filter: UsageFilter;
}

/** Everything that is wrong with the query comes in one fault. */
export function readUsageQuery(query: unknown): UsageQuery {
  const given = (query ?? {}) as Record<string, unknown>;
  const issues: Issue[] = [];
  const page = collecting(issues, () => readPageQuery(given, usageQuery));
  const from = readTimeParameter(given, "from_date", "datetime_parsing", issues);
  const to = readTimeParameter(given, "to_date", "datetime_parsing", issues);
  if (from !== undefined && to !== undefined && from > to) {
    issues.push({ type: "value_error", loc: ["query", "from_date"], msg: "from_date must not be after to_date" });
  }
  throwIfAny(issues);
  if (!page) throw new Error("a page was neither read nor refused");
  return { page, wantsPage: given.page !== undefined || given.page_size !== undefined, filter: { from, to } };
}

function collecting<T>(issues: Issue[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    issues.push(...error.issues);
    return undefined;
  }
}
