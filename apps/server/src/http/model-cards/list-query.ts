import { type Issue, throwIfAny } from "../../kernel/errors.ts";
import { type PageQuery, readPageQuery } from "../foundation/page-query.ts";
import { searchTextIssue } from "../foundation/search-text.ts";

const kinds = ["image", "video", "text", "other"];

export interface ListQuery extends PageQuery {
  kind: string | undefined;
  q: string | undefined;
}

/** The page of the list, and what it is narrowed to. */
export function readListQuery(query: unknown): ListQuery {
  const { kind, q } = (query ?? {}) as Record<string, unknown>;
  const page = readPageQuery(query);
  const issues: Issue[] = [];
  if (kind !== undefined && !kinds.includes(kind as string)) {
    const msg = `Must be one of ${kinds.join(", ")}`;
    issues.push({ type: "one_of", loc: ["query", "kind"], msg, ctx: { expected: kinds } });
  }
  const wrongText = searchTextIssue("q", q);
  if (wrongText) issues.push(wrongText);
  throwIfAny(issues);
  return { ...page, kind: kind as string | undefined, q: (q as string | undefined) || undefined };
}
