import type { Operation } from "@gantry/wire/operations";
import type { Issue } from "../../kernel/errors.ts";
import { schemaIssues } from "../../kernel/schema-issues.ts";

export interface PageQuery {
  page: number;
  page_size: number;
}

/** Everything wrong with a query, each issue with the value that was given. */
export function queryIssues(schema: NonNullable<Operation["query"]>, given: Record<string, unknown>): Issue[] {
  return schemaIssues(schema, given, ["query"]).map((issue) => ({ ...issue, input: given[String(issue.loc[1])] }));
}

export function rangeOf({ page, page_size: limit }: PageQuery): { limit: number; offset: number } {
  return { limit, offset: (page - 1) * limit };
}

export interface ListEnvelope<T> extends PageQuery {
  results: T[];
  total_count: number;
  total_pages: number;
}

export function listEnvelope<T>(results: T[], { page, page_size }: PageQuery, totalCount: number): ListEnvelope<T> {
  return { results, page, page_size, total_count: totalCount, total_pages: Math.ceil(totalCount / page_size) };
}
