import { searchText } from "@gantry/wire";
import type { Issue } from "../../kernel/errors.ts";
import { schemaIssues } from "../../kernel/schema-issues.ts";

/** What is wrong with a query parameter that is searched for; undefined where it is a text, or is not given. */
export function searchTextIssue(name: string, given: unknown): Issue | undefined {
  return schemaIssues(searchText.optional(), given, ["query", name])[0];
}
