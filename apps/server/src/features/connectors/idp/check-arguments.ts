import type { ErrorType } from "@gantry/wire";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { type Issue, type Loc, throwIfAny } from "../../../kernel/errors.ts";
import { requirementOf } from "../../../kernel/json-schema-text.rules.ts";
import { storableIssues } from "../../../kernel/storable-issues.ts";
import type { Action } from "./action-table.ts";
import { isCut } from "./cut-long-text.rules.ts";
import { parametersOf } from "./describe-action.rules.ts";
import { hidden, secretsIn } from "./mask.rules.ts";

/** Compiles only schemas of the action table, never of users. */
const ajv = new Ajv2020({ allErrors: true, strict: false });
formats.default(ajv);
const compiled = new Map<string, ValidateFunction>();

const root: Loc = ["body", "arguments"];

const typeOfExpected: Readonly<Record<string, ErrorType>> = {
  string: "string_type",
  boolean: "bool_parsing",
  integer: "int_parsing",
  number: "float_parsing",
};

/** Limits that the API does not publish. Exceeding one is a warning, because the tenant may still accept the value. */
const advisory: readonly { keyword: string; at: RegExp; group?: string }[] = [
  { keyword: "maxLength", at: /^\/identifier$/ },
  { keyword: "maxLength", at: /^\/scopes\/\d+\/value$/ },
  { keyword: "maxLength", at: /^\/name$/, group: "Organizations" },
  { keyword: "maxLength", at: /^\/(client_)?metadata\/[^/]+$/ },
  { keyword: "maxProperties", at: /^\/(client_)?metadata$/ },
];

/** Throws one fault with all issues. Returns warnings. */
export function checkArguments(action: Action, given: Readonly<Record<string, unknown>>): string[] {
  // Must come first: nothing else may traverse arguments that are nested too deeply.
  const { issues: unstorable, isTooDeep } = storableIssues({ arguments: given });
  throwIfAny(isTooDeep ? unstorable.slice(-1) : unstorable);
  const validate = validatorOf(action);
  const issues: Issue[] = [];
  const warnings: string[] = [];
  if (!validate(given)) {
    for (const error of validate.errors ?? []) {
      if (isAdvisory(action, error)) warnings.push(`${fieldName(error)} ${problemOf(error)}; the tenant may refuse it`);
      else issues.push(toIssue(error));
    }
  }
  for (const { name } of action.path_params) issues.push(...pathValueIssues(name, given[name]));
  if (action.kind === "write") {
    issues.push(...locationsOf(given, isCut).map((at) => placeholder(at, "the mark of a shortened text")));
    const isMasked = maskIn(action, given);
    issues.push(...locationsOf(given, isMasked).map((at) => placeholder(at, "the placeholder of a secret")));
  }
  throwIfAny(issues);
  return warnings;
}

/** A dot segment would address something else. */
function pathValueIssues(name: string, value: unknown): Issue[] {
  if (value !== "." && value !== "..") return [];
  return [{ type: "value_error", loc: [...root, name], msg: `"${value}" is not a valid id` }];
}

/** Written back, it would replace the tenant's value. */
function placeholder(at: Loc, what: string): Issue {
  const msg = `The text contains ${what}. Give the whole value, or leave the field out.`;
  return { type: "value_error", loc: [...root, ...at], msg };
}

/** Secrets are shown as hidden, or by their last four characters, which may be normal text in other fields. */
function maskIn(action: Action, given: Readonly<Record<string, unknown>>): (text: string) => boolean {
  const secrets = new Set(secretsIn(given, action.sensitive_input ?? []));
  return (text) => text === hidden || (/^….{1,4}$/s.test(text) && secrets.has(text));
}

function locationsOf(value: unknown, isSuch: (text: string) => boolean, at: Loc = []): Loc[] {
  if (typeof value === "string") return isSuch(value) ? [at] : [];
  if (typeof value !== "object" || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([name, inner]) => locationsOf(inner, isSuch, [...at, name]));
}

function validatorOf(action: Action): ValidateFunction {
  const known = compiled.get(action.name);
  if (known) return known;
  const made = ajv.compile(parametersOf(action));
  compiled.set(action.name, made);
  return made;
}

function isAdvisory(action: Action, error: ErrorObject): boolean {
  return advisory.some(
    ({ keyword, at, group }) =>
      keyword === error.keyword && at.test(error.instancePath) && (group === undefined || group === action.group),
  );
}

function stepsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function fieldName(error: ErrorObject): string {
  return stepsOf(error.instancePath).join(".");
}

function toIssue(error: ErrorObject): Issue {
  const loc = [...root, ...stepsOf(error.instancePath).map((step) => (/^\d+$/.test(step) ? Number(step) : step))];
  const msg = `The value ${problemOf(error)}`;
  const { params } = error;
  switch (error.keyword) {
    case "required":
      return { type: "missing", loc: [...loc, params.missingProperty], msg: "Field required" };
    case "additionalProperties":
      return { type: "extra_forbidden", loc: [...loc, params.additionalProperty], msg: "Unknown field" };
    case "minProperties":
      return { type: "sequence_too_short", loc, msg: "There is nothing to change. Give at least one field to change." };
    case "type":
      return { type: typeOfExpected[[params.type].flat()[0]] ?? "json_invalid", loc, msg };
    case "enum":
      return {
        type: "one_of",
        loc,
        msg: `Value is not one of the allowed options: ${params.allowedValues.join(", ")}`,
        ctx: { expected: params.allowedValues },
      };
    case "minimum":
      return { type: "greater_than_equal", loc, msg, ctx: { ge: params.limit } };
    case "maximum":
      return { type: "less_than_equal", loc, msg, ctx: { le: params.limit } };
    case "maxLength":
      return { type: "string_too_long", loc, msg, ctx: { max_length: params.limit } };
    case "minLength":
    case "minItems":
      return { type: "sequence_too_short", loc, msg, ctx: { min_length: params.limit } };
    case "maxItems":
    case "maxProperties":
      return { type: "sequence_too_long", loc, msg, ctx: { max_length: params.limit } };
    case "format":
      return { type: params.format === "uri" ? "url_parsing" : "value_error", loc, msg };
    default:
      return { type: "value_error", loc, msg };
  }
}

function problemOf({ keyword, params }: ErrorObject): string {
  return requirementOf(keyword, params) ?? (keyword === "pattern" ? "has an invalid format" : "is invalid");
}
