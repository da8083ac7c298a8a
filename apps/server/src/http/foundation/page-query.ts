import { type datedListQuery, managementPage } from "@gantry/wire";
import { throwIfAny } from "../../kernel/errors.ts";
import { schemaIssues } from "../../kernel/schema-issues.ts";

export interface PageQuery {
  page: number;
  pageSize: number;
  limit: number;
  offset: number;
}

/** The page of a management list; other parameters are not looked at, unless the list's own schema is given. */
export function readPageQuery(
  query: unknown,
  schema: typeof managementPage | typeof datedListQuery = managementPage,
): PageQuery {
  const given = (query ?? {}) as Record<string, unknown>;
  const issues = schemaIssues(schema, given, ["query"]);
  throwIfAny(issues.map((issue) => ({ ...issue, input: given[String(issue.loc[1])] })));
  const { page, page_size: pageSize } = schema.parse(given);
  return { page, pageSize, limit: pageSize, offset: (page - 1) * pageSize };
}

export interface ListEnvelope<T> {
  results: T[];
  page: number;
  page_size: number;
  total_count: number;
  total_pages: number;
}

export function listEnvelope<T>(results: T[], { page, pageSize }: PageQuery, totalCount: number): ListEnvelope<T> {
  return {
    results,
    page,
    page_size: pageSize,
    total_count: totalCount,
    total_pages: Math.ceil(totalCount / pageSize),
  };
}
