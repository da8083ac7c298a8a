import { datedListQuery } from "@gantry/wire";
import type { TimeRange } from "../../features/billing/index.ts";
import { Fault, type Issue, throwIfAny } from "../../kernel/errors.ts";
import { type PageQuery, readPageQuery } from "../foundation/page-query.ts";
import { readTimeParameter } from "./time-parameter.ts";

export interface DatedListQuery {
  page: PageQuery;
  /** Whether the client asked for a page, and not for the list as such. */
  wantsPage: boolean;
  range: TimeRange;
}

/** A page of a list of money, and of which time. Everything that is wrong with the query comes in one fault. */
export function readDatedListQuery(query: unknown): DatedListQuery {
  const given = (query ?? {}) as Record<string, unknown>;
  const issues: Issue[] = [];
  const page = collecting(issues, () => readPageQuery(given, datedListQuery));
  const from = readTimeParameter(given, "from_date", "datetime_parsing", issues);
  const to = readTimeParameter(given, "to_date", "datetime_parsing", issues);
  if (from !== undefined && to !== undefined && from > to) {
    issues.push({ type: "value_error", loc: ["query", "from_date"], msg: "from_date must not be after to_date" });
  }
  throwIfAny(issues);
  if (!page) throw new Error("a page was neither read nor refused");
  return { page, wantsPage: given.page !== undefined || given.page_size !== undefined, range: { from, to } };
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
