import { compileFieldCheck, compileNumberCheck, compileTextCheck, type FieldSchema } from "@gantry/wire";
import type { InputValue } from "../../../engines/models/driver.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import type { Report } from "./form.ts";

/** Converts the text of a field. Undefined if an issue was reported. */
export type Converter = (text: string, report: Report) => InputValue | undefined;

const booleans: Readonly<Record<string, boolean>> = {
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
  if (Object.hasOwn(booleans, key)) return booleans[key];
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
  // PostgreSQL cannot store NUL.
  if (!text.includes("\0")) return text;
  report({ type: "string_type", msg: "Input should be text without NUL characters" });
  return undefined;
};

function textRule(schema: FieldSchema): Converter {
  const check = compileTextCheck(schema);
  if (!check) return toText;
  return (text, report) => {
    const value = toText(text, report);
    const problem = value === undefined ? undefined : check(text);
    if (!problem) return value;
    report(problem);
    return undefined;
  };
}

function numberRule(schema: FieldSchema, base: Converter): Converter {
  const check = compileNumberCheck(schema);
  if (!check) return base;
  return (text, report) => {
    const value = base(text, report);
    const problem = typeof value === "number" ? check(value) : undefined;
    if (!problem) return value;
    report(problem);
    return undefined;
  };
}

function enumRule(schema: FieldSchema, base: Converter): Converter {
  const expected: unknown[] | undefined = schema.enum?.filter((each) => each !== null);
  if (!expected) return base;
  const msg = `Input should be one of: ${expected.map(String).join(", ")}`;
  return (text, report) => {
    // A value that cannot be converted is not an option either. One issue is enough.
    const value = base(text, () => {});
    if (value !== undefined && expected.includes(value)) return value;
    report({ type: "one_of", msg, ctx: { expected } });
    return undefined;
  };
}

/** Fields have one type in a manifest. The caller handles `null` beside it. */
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

const maxProblems = 20;

/** Arrays and objects are sent as JSON and checked against the field's schema. */
export function compileJsonCheck(
  type: "array" | "object",
  schema: FieldSchema,
): (text: string, report: Report) => InputValue | undefined {
  const check = compileFieldCheck(schema);
  return (text, report) => {
    const value = parseJson(text);
    const isFitting = type === "array" ? Array.isArray(value) : isRecord(value);
    if (!isFitting) {
      report({ type: "json_invalid", msg: `Input should be a JSON ${type}` });
      return undefined;
    }
    const problems = check(value, maxProblems);
    if (problems.length === 0) return value as InputValue;
    for (const problem of problems) report(problem);
    return undefined;
  };
}

/** Deeper values risk a stack overflow when they are serialized. */
const maxDepth = 64;

/** Undefined for invalid JSON, and for values that cannot be stored: NUL, lone surrogates, infinite numbers. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isStorable(value, 0) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isStorable(value: unknown, depth: number): boolean {
  if (typeof value === "string") return !value.includes("\0") && value.isWellFormed();
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  if (depth === maxDepth) return false;
  if (Array.isArray(value)) return value.every((each) => isStorable(each, depth + 1));
  return Object.entries(value).every(([key, each]) => isStorable(key, depth) && isStorable(each, depth + 1));
}
