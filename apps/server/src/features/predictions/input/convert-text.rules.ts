import type { FieldSchema } from "@gantry/wire";
import type { InputValue } from "../../../engines/models/driver.ts";
import { readMoment } from "../../billing/index.ts";
import { compileJsonCheck } from "./json-value.rules.ts";
import type { Problem, Report } from "./problem.ts";

/** Turns the text of a field into its value; undefined after something was reported. */
export type Converter = (text: string, report: Report) => InputValue | undefined;

const truths: Readonly<Record<string, boolean>> = {
  true: true,
  "1": true,
  yes: true,
  on: true,
  false: false,
  "0": false,
  no: false,
  off: false,
};

const wholeNumber = /^\s*[+-]?\d+\s*$/;
const number = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i;

const toBoolean: Converter = (text, report) => {
  const key = text.trim().toLowerCase();
  if (Object.hasOwn(truths, key)) return truths[key];
  report({ type: "bool_parsing", msg: "Input should be a boolean: true, false, 1, 0, yes, no, on or off" });
  return undefined;
};

const toInteger: Converter = (text, report) => {
  const value = wholeNumber.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  report({ type: "int_parsing", msg: "Input should be a whole number" });
  return undefined;
};

const toNumber: Converter = (text, report) => {
  const value = number.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(value)) return value;
  report({ type: "float_parsing", msg: "Input should be a number" });
  return undefined;
};

const toText: Converter = (text, report) => {
  // No database and few programs can hold it.
  if (!text.includes("\0")) return text;
  report({ type: "string_type", msg: "Input should be text without NUL characters" });
  return undefined;
};

/** Unicode characters, as JSON Schema counts them; surrogate pairs are counted only where they can matter. */
function isLongerThan(text: string, max: number): boolean {
  return text.length > max && (text.length > 2 * max || [...text].length > max);
}

function textRule({ minLength = 0, maxLength, format }: FieldSchema): Converter {
  if (minLength === 0 && maxLength === undefined && format === undefined) return toText;
  return (text, report) => {
    const value = toText(text, report);
    const problem = value === undefined ? undefined : textProblem(text, minLength, maxLength, format);
    if (!problem) return value;
    report(problem);
    return undefined;
  };
}

function textProblem(text: string, min: number, max: number | undefined, format?: string): Problem | undefined {
  if (max !== undefined && isLongerThan(text, max)) {
    return { type: "string_too_long", msg: `Input should have at most ${max} characters`, ctx: { max_length: max } };
  }
  if (min > 0 && !isLongerThan(text, min - 1)) {
    return {
      type: "sequence_too_short",
      msg: `Input should have at least ${min} characters`,
      ctx: { min_length: min },
    };
  }
  if (format === "uri" && !isWebAddress(text)) {
    return { type: "url_parsing", msg: "Input should be an http or https address without a user name" };
  }
  if (format === "date-time" && !isDateTime(text)) {
    return { type: "datetime_parsing", msg: "Input should be an ISO 8601 date and time" };
  }
  return undefined;
}

export function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === "http:" || url.protocol === "https:") && url.username === "";
}

const dateTime = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d)(?:(:\d\d)(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/i;

/** Stricter in its form than what a query may say, because a model gets it as it was sent; a fraction has any length. */
function isDateTime(text: string): boolean {
  const [, minute, seconds = "", zone = ""] = dateTime.exec(text) ?? [];
  return minute !== undefined && readMoment(minute + seconds + zone) !== undefined;
}

function numberRule({ minimum: ge, maximum: le }: FieldSchema, base: Converter): Converter {
  return (text, report) => {
    const value = base(text, report);
    if (typeof value !== "number") return undefined;
    if (ge !== undefined && value < ge) {
      report({ type: "greater_than_equal", msg: `Input should be at least ${ge}`, ctx: { ge } });
      return undefined;
    }
    if (le !== undefined && value > le) {
      report({ type: "less_than_equal", msg: `Input should be at most ${le}`, ctx: { le } });
      return undefined;
    }
    return value;
  };
}

function enumRule(schema: FieldSchema, base: Converter): Converter {
  const expected: unknown[] | undefined = schema.enum?.filter((each) => each !== null);
  if (!expected) return base;
  const msg = `Input should be one of: ${expected.map(String).join(", ")}`;
  return (text, report) => {
    // What cannot even be converted is none of the allowed values either; one fault says it all.
    const value = base(text, () => {});
    if (value !== undefined && expected.includes(value)) return value;
    report({ type: "one_of", msg, ctx: { expected } });
    return undefined;
  };
}

/** For a field of one type, as a manifest has it; `null` beside it is the caller's business. */
export function compileConverter(schema: FieldSchema): Converter {
  const type = [schema.type ?? "string"].flat().find((name) => name !== "null");
  switch (type) {
    case "boolean":
      return enumRule(schema, toBoolean);
    case "integer":
      return enumRule(schema, numberRule(schema, toInteger));
    case "number":
      return enumRule(schema, numberRule(schema, toNumber));
    case "array":
    case "object":
      return compileJsonCheck(type, schema);
    default:
      return enumRule(schema, textRule(schema));
  }
}
