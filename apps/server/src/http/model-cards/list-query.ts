import { type Issue, throwIfAny } from "../../kernel/errors.ts";
import { type PageQuery, readPageQuery } from "../foundation/page-query.ts";

const kinds = ["image", "video", "text", "other"];
const longestSearch = 200;

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
  // A parameter given twice arrives as a list; NUL is no text to PostgreSQL.
  if (q !== undefined && (typeof q !== "string" || q.includes("\0"))) {
    issues.push({ type: "string_type", loc: ["query", "q"], msg: "Must be one text" });
  } else if (typeof q === "string" && q.length > longestSearch) {
    const msg = `At most ${longestSearch} characters`;
    issues.push({ type: "string_too_long", loc: ["query", "q"], msg, ctx: { max_length: longestSearch } });
  }
  throwIfAny(issues);
  return { ...page, kind: kind as string | undefined, q: (q as string | undefined) || undefined };
}
