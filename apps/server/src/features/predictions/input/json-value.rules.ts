import { compileFieldCheck, type FieldSchema } from "@gantry/wire";
import type { InputValue } from "../../../engines/models/driver.ts";
import type { Report } from "./problem.ts";

/** Of one field: whoever reads more than these mends all of them at once. */
const maxProblems = 20;

/** Arrays and objects come as JSON text and are held to the field's whole schema. */
export function compileJsonCheck(
  type: "array" | "object",
  schema: FieldSchema,
): (text: string, report: Report) => InputValue | undefined {
  const check = compileFieldCheck(schema);
  return (text, report) => {
    const value = parseJson(text);
    const isFitting = type === "array" ? Array.isArray(value) : isObject(value);
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
