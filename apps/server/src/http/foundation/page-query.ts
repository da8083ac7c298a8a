import { type Issue, throwIfAny } from "../../kernel/errors.ts";

export interface PageQuery {
  page: number;
  pageSize: number;
  limit: number;
  offset: number;
}

/** No list is that long; it keeps the offset within what every number on the way can hold. */
const lastPage = 1_000_000_000;
const largestPage = 100;
const defaultPageSize = 20;

/** `page` from 1 and `page_size` 1..100 of a management list; other parameters are not looked at. */
export function readPageQuery(query: unknown): PageQuery {
  const given = (query ?? {}) as Record<string, unknown>;
  const issues: Issue[] = [];
  const page = wholeNumber(given, "page", 1, lastPage, issues);
  const pageSize = wholeNumber(given, "page_size", defaultPageSize, largestPage, issues);
  throwIfAny(issues);
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

function wholeNumber(
  query: Record<string, unknown>,
  name: string,
  otherwise: number,
  most: number,
  issues: Issue[],
): number {
  const text = query[name];
  if (text === undefined) return otherwise;
  const loc = ["query", name];
  // A parameter given twice arrives as a list.
  if (typeof text !== "string" || !/^[+-]?\d+$/.test(text)) {
    issues.push({ type: "int_parsing", loc, msg: "The value must be a whole number", input: text });
    return otherwise;
  }
  const value = Number(text);
  if (value < 1) {
    issues.push({ type: "greater_than_equal", loc, msg: "The value must be at least 1", ctx: { ge: 1 }, input: text });
  } else if (value > most) {
    const msg = `The value must be at most ${most}`;
    issues.push({ type: "less_than_equal", loc, msg, ctx: { le: most }, input: text });
  }
  return value;
}
