import { largestItemPage } from "../../features/drives/index.ts";
import { type Issue, throwIfAny } from "../../kernel/errors.ts";
import { ListQuery, type Range } from "./list-query.ts";

type Query = Readonly<Record<string, unknown>>;

/** No list is that long; it keeps the offset within what every number on the way can hold. */
const largestOffset = 1_000_000_000;

/**
 * `path` and the page of a listing. The specification gives it no pages, so one is as long as nearly every directory; the
 * rest of a longer one is asked for.
 */
export function readItemsQuery(query: unknown): Range & { path: string } {
  const given = query as Query;
  const issues: Issue[] = [];
  const limit = wholeNumber(
    given,
    { name: "limit", otherwise: largestItemPage, least: 1, most: largestItemPage },
    issues,
  );
  const offset = wholeNumber(given, { name: "offset", otherwise: 0, least: 0, most: largestOffset }, issues);
  const { path = "/" } = given;
  // A parameter given twice arrives as a list.
  if (typeof path !== "string") issues.push({ type: "string_type", loc: ["query", "path"], msg: "Must be one text" });
  throwIfAny(issues);
  return { path: String(path), limit, offset };
}

export function readForce(query: unknown): boolean {
  const read = new ListQuery(query);
  const force = read.oneOf("force", ["true", "false"]);
  read.done();
  return force === "true";
}

function wholeNumber(
  query: Query,
  { name, otherwise, least, most }: { name: string; otherwise: number; least: number; most: number },
  issues: Issue[],
): number {
  const given = query[name];
  const loc = ["query", name];
  if (given === undefined) return otherwise;
  if (typeof given !== "string" || !/^[+-]?\d+$/.test(given)) {
    issues.push({ type: "int_parsing", loc, msg: "Must be a whole number" });
    return otherwise;
  }
  const value = Number(given);
  if (value < least) {
    issues.push({ type: "greater_than_equal", loc, msg: `Must be at least ${least}`, ctx: { ge: least } });
  } else if (value > most) {
    issues.push({ type: "less_than_equal", loc, msg: `Must be at most ${most}`, ctx: { le: most } });
  }
  return value;
}
