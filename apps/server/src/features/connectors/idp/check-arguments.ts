import type { ErrorType } from "@gantry/wire";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { type Issue, type Loc, throwIfAny } from "../../../kernel/errors.ts";
import { storableIssues } from "../../../kernel/storable-issues.ts";
import type { Action } from "./action-table.ts";
import { isCut } from "./cut-long-text.rules.ts";
import { parametersOf } from "./describe-action.rules.ts";
import { hidden, secretsIn } from "./mask.rules.ts";

/** The schemas are the table's own, so nothing a user wrote is compiled here. Each is compiled when first needed. */
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

/**
 * Upper bounds that are general knowledge of the API and not part of its published types: a value beyond them may still
 * be accepted, so it is told and not refused.
 */
const advisory: readonly { keyword: string; at: RegExp; group?: string }[] = [
  { keyword: "maxLength", at: /^\/identifier$/ },
  { keyword: "maxLength", at: /^\/scopes\/\d+\/value$/ },
  { keyword: "maxLength", at: /^\/name$/, group: "Organizations" },
  { keyword: "maxLength", at: /^\/(client_)?metadata\/[^/]+$/ },
  { keyword: "maxProperties", at: /^\/(client_)?metadata$/ },
];

/** Throws one fault with everything that is wrong; gives back what the tenant may not like. */
export function checkArguments(action: Action, given: Readonly<Record<string, unknown>>): string[] {
  // First, and what is nested too deeply alone: nothing else may look at it. What is stored of a call must be what is sent.
  const { issues: unstorable, isTooDeep } = storableIssues({ arguments: given });
  throwIfAny(isTooDeep ? unstorable.slice(-1) : unstorable);
  const validate = validatorOf(action);
  const issues: Issue[] = [];
  const warnings: string[] = [];
  if (!validate(given)) {
    for (const error of validate.errors ?? []) {
      if (isAdvisory(action, error)) warnings.push(`${fieldName(error)} ${error.message}; the tenant may refuse it`);
      else issues.push(toIssue(error));
    }
  }
  for (const { name } of action.path_params) issues.push(...pathValueIssues(name, given[name]));
  if (action.kind === "write") {
    issues.push(
      ...placesOf(given, isCut).map((place) => notTheirs(place, "the mark of a cut, so it is not the whole text")),
    );
    const isMasked = maskIn(action, given);
    issues.push(
      ...placesOf(given, isMasked).map((place) => notTheirs(place, "what stands here for a secret, not the secret")),
    );
  }
  throwIfAny(issues);
  return warnings;
}

/** A dot segment would be resolved away and address something else. */
function pathValueIssues(name: string, value: unknown): Issue[] {
  if (value !== "." && value !== "..") return [];
  return [{ type: "value_error", loc: [...root, name], msg: `"${value}" is no id` }];
}

/** Written back, it would take the place of what the tenant has. */
function notTheirs(place: Loc, what: string): Issue {
  const msg = `The text holds ${what}: give the whole one, or leave the field out`;
  return { type: "value_error", loc: [...root, ...place], msg };
}

/** What secrets are shown as: hidden, or a new one by its last four characters, which may be any text elsewhere. */
function maskIn(action: Action, given: Readonly<Record<string, unknown>>): (text: string) => boolean {
  const secrets = new Set(secretsIn(given, action.sensitive_input ?? []));
  return (text) => text === hidden || (/^….{1,4}$/s.test(text) && secrets.has(text));
}

/** Where in the arguments such texts stand. */
function placesOf(value: unknown, isSuch: (text: string) => boolean, at: Loc = []): Loc[] {
  if (typeof value === "string") return isSuch(value) ? [at] : [];
  if (typeof value !== "object" || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([name, inner]) => placesOf(inner, isSuch, [...at, name]));
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
  const msg = `The value ${error.message ?? "is wrong"}`;
  const { params } = error;
  switch (error.keyword) {
    case "required":
      return { type: "missing", loc: [...loc, params.missingProperty], msg: "Field required" };
    case "additionalProperties":
      return { type: "extra_forbidden", loc: [...loc, params.additionalProperty], msg: "Unknown field" };
    case "minProperties":
      return { type: "sequence_too_short", loc, msg: "There is nothing to change: give at least one field to change" };
    case "type":
      return { type: typeOfExpected[[params.type].flat()[0]] ?? "json_invalid", loc, msg };
    case "enum":
      return {
        type: "one_of",
        loc,
        msg: "The value is none of the allowed ones",
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
