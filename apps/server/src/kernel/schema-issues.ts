import type { ErrorType } from "@gantry/wire";
import { type Issue, type Loc, throwIfAny } from "./errors.ts";

/** The part of a zod issue that is used here: kernel does not depend on zod. */
interface SchemaIssue {
  code?: string | undefined;
  path: readonly PropertyKey[];
  message: string;
  expected?: unknown;
  values?: readonly unknown[];
  keys?: readonly string[];
  origin?: string;
  minimum?: number | bigint;
  maximum?: number | bigint;
  format?: string;
  input?: unknown;
}

/** The same issue inside the error callback, where its schema is known. */
interface RaisedIssue {
  path?: readonly PropertyKey[] | undefined;
  inst?: unknown;
}

interface Schema<T> {
  safeParse(
    value: unknown,
    context: { error(raised: RaisedIssue): undefined },
  ): { success: true; data: T } | { success: false; error: { issues: readonly SchemaIssue[] } };
}

const typeOfExpected: Record<string, ErrorType> = {
  string: "string_type",
  boolean: "bool_parsing",
  int: "int_parsing",
  number: "float_parsing",
  object: "json_invalid",
  record: "json_invalid",
  array: "json_invalid",
};

const names: Record<string, string> = {
  string: "a text",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "an object",
  record: "an object",
  array: "a list",
};

/** Replaces a message of the validator. Messages of our schemas stay. */
function worded({ message }: SchemaIssue, text: string): string {
  return /^(Invalid|Too) /.test(message) ? text : message;
}

function sizeText({ origin, maximum, minimum }: SchemaIssue, tooBig: boolean): string {
  const bound = tooBig ? `at most ${maximum}` : `at least ${minimum}`;
  const plural = (tooBig ? maximum : minimum) === 1 ? "" : "s";
  if (origin === "string") return `Text should have ${bound} character${plural}`;
  return origin === "array" ? `List should have ${bound} item${plural}` : `Value should be ${bound}`;
}

function bySize(issue: SchemaIssue, tooBig: boolean): Pick<Issue, "type" | "ctx"> {
  const bound = Number(tooBig ? issue.maximum : issue.minimum);
  if (issue.origin === "number" || issue.origin === "int" || issue.origin === "bigint") {
    return tooBig
      ? { type: "less_than_equal", ctx: { le: bound } }
      : { type: "greater_than_equal", ctx: { ge: bound } };
  }
  if (!tooBig) return { type: "sequence_too_short", ctx: { min_length: bound } };
  return { type: issue.origin === "string" ? "string_too_long" : "sequence_too_long", ctx: { max_length: bound } };
}

function translate(issue: SchemaIssue, value: unknown, root: Loc): Issue[] {
  const loc = [...root, ...issue.path.map((step) => (typeof step === "symbol" ? String(step) : step))];
  switch (issue.code) {
    case "unrecognized_keys": {
      // Messages about a query list its parameters; a body has too many fields for that.
      const msg = root[0] === "query" ? issue.message : "Unknown field";
      return (issue.keys ?? []).map((key) => ({ type: "extra_forbidden", loc: [...loc, key], msg }));
    }
    case "invalid_value":
      if (at(value, issue.path) === undefined) return [{ type: "missing", loc, msg: "Field required" }];
      return [
        {
          type: "one_of",
          loc,
          msg: worded(issue, `Value is not one of the allowed options: ${issue.values?.join(", ")}`),
          ctx: { expected: issue.values ?? [] },
        },
      ];
    case "too_big":
      return [{ loc, msg: worded(issue, sizeText(issue, true)), ...bySize(issue, true) }];
    case "too_small":
      return [{ loc, msg: worded(issue, sizeText(issue, false)), ...bySize(issue, false) }];
    case "invalid_type": {
      if (at(value, issue.path) === undefined) return [{ type: "missing", loc, msg: "Field required" }];
      const expected = String(issue.expected);
      const msg = worded(issue, `Value should be ${names[expected] ?? expected}`);
      return [{ type: typeOfExpected[expected] ?? "value_error", loc, msg }];
    }
    case "invalid_format":
      if (issue.format === "url") return [{ type: "url_parsing", loc, msg: worded(issue, "Value should be a URL") }];
      if (issue.format === "datetime") {
        const msg = worded(issue, "Value should be a date and time such as 2026-01-31T12:00:00Z");
        return [{ type: "datetime_parsing", loc, msg }];
      }
      return [{ type: "value_error", loc, msg: worded(issue, "Value does not have the expected format") }];
    default:
      return [{ type: "value_error", loc, msg: worded(issue, "Value does not have the expected form") }];
  }
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let here = value;
  for (const step of path) {
    if (typeof here !== "object" || here === null) return undefined;
    here = (here as Record<PropertyKey, unknown>)[step];
  }
  return here;
}

function expectsInteger(schema: unknown): boolean {
  return (schema as { _zod?: { def: { format?: unknown } } } | undefined)?._zod?.def.format === "safeint";
}

function parse<T>(schema: Schema<T>, value: unknown, root: Loc): { data: T } | { issues: Issue[] } {
  // For a value that is not a number, zod does not say that an integer was expected.
  const integers = new Set<string>();
  const parsed = schema.safeParse(value, {
    error({ path = [], inst }) {
      if (expectsInteger(inst)) integers.add(path.join("/"));
      return undefined;
    },
  });
  if (parsed.success) return { data: parsed.data };
  const issues = parsed.error.issues.flatMap((issue) => {
    const wantsInteger = issue.expected === "number" && integers.has(issue.path.join("/"));
    return translate(wantsInteger ? { ...issue, expected: "int" } : issue, value, root);
  });
  return { issues };
}

/** All problems of a value. Locations start with `root`. */
export function schemaIssues<T>(schema: Schema<T>, value: unknown, root: Loc): Issue[] {
  const parsed = parse(schema, value, root);
  return "issues" in parsed ? parsed.issues : [];
}

/** Throws one fault that lists all problems. */
export function parseOrThrow<T>(schema: Schema<T>, value: unknown, root: Loc): T {
  const parsed = parse(schema, value, root);
  if ("data" in parsed) return parsed.data;
  throwIfAny(parsed.issues);
  throw new Error("a schema failed without an issue");
}
