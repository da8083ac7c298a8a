import { modelFilter } from "@gantry/wire";
import { throwIfAny } from "../../kernel/errors.ts";
import { schemaIssues } from "../../kernel/schema-issues.ts";
import { type PageQuery, readPageQuery } from "../foundation/page-query.ts";

export interface ListQuery extends PageQuery {
  kind: string | undefined;
  q: string | undefined;
}

/** The page of the list, and what it is narrowed to. */
export function readListQuery(query: unknown): ListQuery {
  const page = readPageQuery(query);
  const given = query ?? {};
  throwIfAny(schemaIssues(modelFilter, given, ["query"]));
  const { kind, q } = modelFilter.parse(given);
  return { ...page, kind, q };
}
