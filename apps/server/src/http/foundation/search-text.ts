import type { Issue } from "../../kernel/errors.ts";

const longest = 200;

/** What is wrong with a query parameter that is searched for; undefined where it is a text, or is not given. */
export function searchTextIssue(name: string, given: unknown): Issue | undefined {
  const loc = ["query", name];
  if (given === undefined) return undefined;
  // A parameter given twice arrives as a list.
  if (typeof given !== "string") return { type: "string_type", loc, msg: "Must be one text" };
  // Which is no text to PostgreSQL.
  if (given.includes("\0")) return { type: "string_type", loc, msg: "Must be a text without NUL characters" };
  if (given.length <= longest) return undefined;
  return { type: "string_too_long", loc, msg: `At most ${longest} characters`, ctx: { max_length: longest } };
}
