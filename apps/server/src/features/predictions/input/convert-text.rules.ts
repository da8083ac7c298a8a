import { compileNumberCheck, compileTextCheck, type FieldSchema } from "@gantry/wire";
import type { InputValue } from "../../../engines/models/driver.ts";
import { compileJsonCheck } from "./json-value.rules.ts";
import type { Report } from "./problem.ts";

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
