import type { ErrorType } from "./error-table.ts";
import { parseUrl } from "./parse-url.rules.ts";

/** `path` leads into the value; the caller adds the location of the value itself. */
export interface ValueProblem {
  type: ErrorType;
  msg: string;
  ctx?: Record<string, unknown>;
  path?: readonly (string | number)[];
}

type Keywords = Readonly<Record<string, unknown>>;
export type ScalarCheck<T> = (value: T) => ValueProblem | undefined;

/** Names of the DNS are not longer. */
const longestHost = 253;

/** Credentials in a URL are refused: no request would send them, and they would be shown with the URL. */
export function isWebAddress(text: string): boolean {
  const url = parseUrl(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return false;
  return url.username === "" && url.password === "" && url.hostname.length <= longestHost;
}

const dateTime = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(?::(\d\d)(?:\.\d+)?)?(?:[Zz]|([+-])([01]\d|2[0-3]):?([0-5]\d))?$/;

/** ISO 8601 date and time, with or without a zone, on a real day; any fraction. */
function isDateTime(text: string): boolean {
  const match = dateTime.exec(text);
  if (!match) return false;
  const [, date, time, seconds = "00", sign, hours = "0", minutes = "0"] = match;
  const local = `${date}T${time}:${seconds}.000Z`;
  const millis = Date.parse(local);
  // Date.parse moves the 30th of February on to March.
  if (Number.isNaN(millis) || new Date(millis).toISOString() !== local) return false;
  const ahead = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  const year = new Date(millis - ahead).getUTCFullYear();
  return year >= 1 && year <= 9999;
}

/** The meaning of formats for fields, nested values, defaults and outputs. */
const formats: Readonly<Record<string, { fits(text: string): boolean; type: ErrorType; msg: string }>> = {
  uri: {
    fits: isWebAddress,
    type: "url_parsing",
    msg: "Input should be an http or https address without a user name or password",
  },
  "date-time": { fits: isDateTime, type: "datetime_parsing", msg: "Input should be an ISO 8601 date and time" },
};

/** Unicode characters, as JSON Schema counts them; counts surrogate pairs only if they matter. */
export function isLongerThan(text: string, max: number): boolean {
  return text.length > max && (text.length > 2 * max || [...text].length > max);
}

/** Undefined if the field does not restrict its text. A keyword of the wrong type is ignored. */
export function compileTextCheck({ minLength, maxLength, format }: Keywords): ScalarCheck<string> | undefined {
  const min = typeof minLength === "number" ? minLength : 0;
  const max = typeof maxLength === "number" ? maxLength : undefined;
  const wanted = typeof format === "string" && Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (min <= 0 && max === undefined && !wanted) return undefined;
  return (text) => {
    if (max !== undefined && isLongerThan(text, max)) {
      return { type: "string_too_long", msg: `Input should have at most ${max} characters`, ctx: { max_length: max } };
    }
    if (min > 0 && !isLongerThan(text, min - 1)) {
      const msg = `Input should have at least ${min} characters`;
      return { type: "sequence_too_short", msg, ctx: { min_length: min } };
    }
    return !wanted || wanted.fits(text) ? undefined : { type: wanted.type, msg: wanted.msg };
  };
}

/** Undefined if the field does not bound its number. */
export function compileNumberCheck({ minimum, maximum }: Keywords): ScalarCheck<number> | undefined {
  if (typeof minimum !== "number" && typeof maximum !== "number") return undefined;
  return (value) => {
    if (typeof minimum === "number" && value < minimum) {
      return { type: "greater_than_equal", msg: `Input should be at least ${minimum}`, ctx: { ge: minimum } };
    }
    if (typeof maximum === "number" && value > maximum) {
      return { type: "less_than_equal", msg: `Input should be at most ${maximum}`, ctx: { le: maximum } };
    }
    return undefined;
  };
}

/** Values in a manifest are not nested deeper. */
const deepest = 64;

/**
 * Whether a value is one of the given JSON values, in time proportional to the value. Objects are equal regardless of
 * key order.
 */
export function compileMembership(values: readonly unknown[]): (value: unknown) => boolean {
  const scalars = new Set(values.filter((value) => !isStructure(value)));
  const structures = new Set(values.filter(isStructure).map((value) => canonical(value, 0)));
  return (value) => {
    if (!isStructure(value)) return scalars.has(value);
    return structures.size > 0 && structures.has(canonical(value, 0));
  };
}

function isStructure(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Equal values have the same text. Deeper nesting becomes a text that is not JSON. */
function canonical(value: unknown, depth: number): string {
  if (!isStructure(value)) return JSON.stringify(value) ?? "null";
  if (depth === deepest) return "…";
  if (Array.isArray(value)) return `[${value.map((each) => canonical(each, depth + 1)).join()}]`;
  const parts = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${parts.map(([name, each]) => `${JSON.stringify(name)}:${canonical(each, depth + 1)}`).join()}}`;
}
