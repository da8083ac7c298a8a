import type { ErrorType } from "./error-table.ts";
import { compileMembership, compileNumberCheck, compileTextCheck, type ValueProblem } from "./field-value-scalars.ts";

type Keywords = Readonly<Record<string, unknown>>;

export const typeNames = ["string", "number", "integer", "boolean", "array", "object", "null"] as const;
type TypeName = (typeof typeNames)[number];

/** State of one check: the current path, and the problems found, up to a limit. */
interface Look {
  readonly path: (string | number)[];
  readonly found: ValueProblem[];
  readonly most: number;
  /** Null in place of an optional part of an object counts as omitted. */
  readonly leavesOutNulls: boolean;
}
type Check = (value: unknown, look: Look) => void;

/** All problems of a value, up to a limit. */
export type FieldCheck = (value: unknown, most: number, leavesOutNulls?: boolean) => readonly ValueProblem[];

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Without a type any is allowed. */
export function typesOf(field: Keywords): readonly TypeName[] {
  const { type } = field;
  const given = typeof type === "string" ? [type] : Array.isArray(type) ? type : typeNames;
  return typeNames.filter((name) => given.includes(name));
}

const checks = new WeakMap<Keywords, Check>();

/**
 * The only check of JSON values against a field: for input, output and values in manifests. It supports exactly the
 * keywords of manifests and takes time proportional to the value. Compile it once for each field object, which must not
 * change. Null satisfies every nullable field, also if `enum` does not list it. A keyword of the wrong type is ignored,
 * so that an unchecked field works too.
 */
export function compileFieldCheck(field: Keywords): FieldCheck {
  const check = checkOf(field);
  return (value, most, leavesOutNulls = false) => {
    const look: Look = { path: [], found: [], most, leavesOutNulls };
    check(value, look);
    return look.found;
  };
}

/** The reason why a value does not satisfy a field. */
export function misfit(field: Keywords, value: unknown): string | undefined {
  const [problem] = compileFieldCheck(field)(value, 1);
  if (problem) return `does not fit${problem.path ? ` at ${problem.path.join(".")}` : ""}: ${problem.msg}`;
  return isInexact(field, value) ? "is a whole number that is too large to be exact" : undefined;
}

/** As text it would be refused, because parsing could yield another number. */
function isInexact(field: unknown, value: unknown): boolean {
  if (!isRecord(field)) return false;
  if (Array.isArray(value)) return value.some((entry) => isInexact(field.items, entry));
  if (isRecord(value)) {
    const { properties } = field;
    if (!isRecord(properties)) return false;
    return Object.entries(value).some(([name, part]) => isInexact(properties[name], part));
  }
  return typesOf(field).includes("integer") && Number.isInteger(value) && !Number.isSafeInteger(value);
}

function checkOf(field: Keywords): Check {
  const known = checks.get(field);
  if (known) return known;
  const check = compile(field);
  checks.set(field, check);
  return check;
}

function compile(field: Keywords): Check {
  const types = typesOf(field);
  const isNullable = field.type !== undefined && types.includes("null");
  const isAny = field.type === undefined;
  const wrongType = typeProblem(types);
  const isMember = Array.isArray(field.enum) ? compileMembership(field.enum) : undefined;
  const noMember: ValueProblem = {
    type: "one_of",
    msg: "Input should be one of the allowed values",
    ctx: { expected: field.enum },
  };
  const rules = [scalarRule(field), listRule(field), objectRule(field)].filter((rule) => rule !== undefined);
  return (value, look) => {
    if (!isAny && !types.some((name) => hasType(value, name))) return tell(look, wrongType);
    if (value === null && isNullable) return;
    if (isMember && !isMember(value)) return tell(look, noMember);
    for (const rule of rules) rule(value, look);
  };
}

function hasType(value: unknown, name: TypeName): boolean {
  switch (name) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isRecord(value);
    case "integer":
      return Number.isInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    default:
      return typeof value === name;
  }
}

const wrongTypes: Readonly<Record<TypeName, { type: ErrorType; what: string }>> = {
  string: { type: "string_type", what: "text" },
  number: { type: "float_parsing", what: "a number" },
  integer: { type: "int_parsing", what: "a whole number" },
  boolean: { type: "bool_parsing", what: "true or false" },
  array: { type: "json_invalid", what: "a list" },
  object: { type: "json_invalid", what: "an object" },
  null: { type: "json_invalid", what: "null" },
};

function typeProblem(types: readonly TypeName[]): ValueProblem {
  const wanted = types.map((name) => wrongTypes[name]);
  const what = wanted.map((one) => one.what).join(" or ");
  return { type: wanted[0]?.type ?? "json_invalid", msg: `Input should be ${what || "of a known type"}` };
}

function tell({ path, found, most }: Look, problem: ValueProblem, step?: string): void {
  if (found.length >= most) return;
  const whole = step === undefined ? [...path] : [...path, step];
  found.push(whole.length > 0 ? { ...problem, path: whole } : problem);
}

function within(look: Look, step: string | number, check: Check, value: unknown): void {
  look.path.push(step);
  check(value, look);
  look.path.pop();
}

function scalarRule(field: Keywords): Check | undefined {
  const text = compileTextCheck(field);
  const number = compileNumberCheck(field);
  if (!text && !number) return undefined;
  return (value, look) => {
    const problem = typeof value === "string" ? text?.(value) : typeof value === "number" ? number?.(value) : undefined;
    if (problem) tell(look, problem);
  };
}

function listRule({ items, minItems: min, maxItems: max }: Keywords): Check | undefined {
  const check = isRecord(items) ? checkOf(items) : undefined;
  if (!check && typeof min !== "number" && typeof max !== "number") return undefined;
  return (value, look) => {
    if (!Array.isArray(value)) return;
    if (typeof min === "number" && value.length < min) {
      const msg = `Input should have at least ${min} entries`;
      tell(look, { type: "sequence_too_short", msg, ctx: { min_length: min } });
    }
    if (typeof max === "number" && value.length > max) {
      const msg = `Input should have at most ${max} entries`;
      return tell(look, { type: "sequence_too_long", msg, ctx: { max_length: max } });
    }
    if (!check) return;
    for (let i = 0; i < value.length && look.found.length < look.most; i++) within(look, i, check, value[i]);
  };
}

function objectRule({ properties, required, additionalProperties }: Keywords): Check | undefined {
  const parts = new Map<string, Check>();
  for (const [name, part] of Object.entries(isRecord(properties) ? properties : {})) {
    if (isRecord(part)) parts.set(name, checkOf(part));
  }
  const wanted = new Set<string>(Array.isArray(required) ? required.filter((name) => typeof name === "string") : []);
  const isClosed = additionalProperties === false;
  if (parts.size === 0 && wanted.size === 0 && !isClosed) return undefined;
  return (value, look) => {
    if (!isRecord(value)) return;
    for (const name of wanted) {
      if (look.found.length >= look.most) return;
      if (!Object.hasOwn(value, name)) tell(look, { type: "missing", msg: "Field required" }, name);
    }
    for (const name of Object.keys(value)) {
      if (look.found.length >= look.most) return;
      if (look.leavesOutNulls && value[name] === null && !wanted.has(name)) continue;
      const check = parts.get(name);
      if (check) within(look, name, check, value[name]);
      else if (isClosed) tell(look, { type: "extra_forbidden", msg: "Unknown field" }, name);
    }
  };
}
