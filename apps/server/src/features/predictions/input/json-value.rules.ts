import type { ErrorType, FieldSchema } from "@gantry/wire";
import type { ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { InputValue } from "../../../engines/models/driver.ts";
import type { Problem, Report } from "./problem.ts";

const maxProblems = 20;

const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  logger: false,
});
addFormats.default(ajv);

const typeOfExpected: Readonly<Record<string, ErrorType>> = {
  string: "string_type",
  boolean: "bool_parsing",
  integer: "int_parsing",
  number: "float_parsing",
};

/** Arrays and objects come as JSON text and are held to the field's whole schema. */
export function compileJsonCheck(
  type: "array" | "object",
  schema: FieldSchema,
): (text: string, report: Report) => InputValue | undefined {
  const validate = ajv.compile(schema);
  return (text, report) => {
    const value = parseJson(text);
    const isFitting = type === "array" ? Array.isArray(value) : isObject(value);
    if (!isFitting) {
      report({ type: "json_invalid", msg: `Input should be a JSON ${type}` });
      return undefined;
    }
    if (validate(value)) return value as InputValue;
    for (const error of (validate.errors ?? []).slice(0, maxProblems)) report(problemOf(error));
    return undefined;
  };
}

/** Deeper than this nothing can be written out again without the risk of a stack overflow. */
const maxDepth = 64;

/** Undefined for what is no JSON, and for what cannot be kept: NUL, half a character, a number beyond all bounds. */
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

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function problemOf({ keyword, params, instancePath, message }: ErrorObject): Problem {
  const path = instancePath
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  const msg = `Input ${message ?? "is not valid"}`;
  switch (keyword) {
    case "type":
      return { type: typeOfExpected[String(params.type)] ?? "json_invalid", msg, path };
    case "enum":
      return { type: "one_of", msg, path, ctx: { expected: params.allowedValues } };
    case "minimum":
      return { type: "greater_than_equal", msg, path, ctx: { ge: params.limit } };
    case "maximum":
      return { type: "less_than_equal", msg, path, ctx: { le: params.limit } };
    case "minLength":
    case "minItems":
      return { type: "sequence_too_short", msg, path, ctx: { min_length: params.limit } };
    case "maxLength":
      return { type: "string_too_long", msg, path, ctx: { max_length: params.limit } };
    case "maxItems":
      return { type: "sequence_too_long", msg, path, ctx: { max_length: params.limit } };
    case "required":
      return { type: "missing", msg: "Field required", path: [...path, String(params.missingProperty)] };
    case "additionalProperties":
      return { type: "extra_forbidden", msg: "Unknown field", path: [...path, String(params.additionalProperty)] };
    default:
      return { type: "value_error", msg, path };
  }
}
