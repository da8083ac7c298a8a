import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../../kernel/is-record.ts";
import {
  chargedJson,
  choicesOf,
  foldObject,
  isNull,
  listOf,
  type PartsLeft,
  resolveRef,
} from "../text/folded-object.ts";
import { type Offered, type Restore, wrapped } from "../text/tool-parameters.ts";
import { fieldsOf, fits, isScalar, isText } from "./schema-fields.ts";

type Schema = Record<string, unknown>;

const deepest = 16;
const mostParts = 2000;
/** Characters or entries. Long texts and lists count as several parts, because references can repeat them. */
const sizeOfPart = 100;
const longestNote = 500;

interface Context {
  root: unknown;
  budget: PartsLeft;
  /** Targets of the references around this schema. Meeting one again would not end. */
  within: readonly unknown[];
}

interface Written extends Offered {
  /** Set if Gemini's schema cannot describe the value. */
  asText?: "object" | "any";
}

const offers = new WeakMap<Schema, Written>();

/**
 * Converts JSON Schema to Gemini's schema, which has no values of any type, no objects with unknown properties and no
 * enumerations of numbers. The model writes such a value as JSON text, and `restore` parses it. References are resolved; a
 * circular one becomes text. Unsupported limits are dropped.
 *
 * `parametersJsonSchema` and `responseJsonSchema` accept more, but not all API versions, models and servers have them.
 */
export function toGoogleSchema(schema: Schema): Written {
  let written = offers.get(schema);
  if (!written) {
    // All models and versions accept an object at the top level.
    const top = isUnion(schema) ? (foldObject(schema, schema) ?? schema) : schema;
    const hasParts = isRecord(top.properties) && Object.keys(top.properties).length > 0;
    written = convert(hasParts ? top : schema, { root: schema, budget: { left: mostParts }, within: [] }, 0);
    offers.set(schema, written);
  }
  return written;
}

/**
 * Parameters must be an object. Undefined for a function without parameters, because the API refuses an object without
 * properties. `mustBeGiven`: the function always has a parameter, as the answer tool does.
 */
export function toGoogleParameters(schema: Schema, mustBeGiven: boolean): Offered | undefined {
  const written = toGoogleSchema(schema);
  if (written.schema.type === "object") return written;
  const isOpen = schema.additionalProperties === true || isRecord(schema.additionalProperties);
  if (written.asText && !mustBeGiven && !isOpen && !isUnion(schema)) return undefined;
  return wrapped(written.schema, written.restore);
}

function isUnion(schema: Schema): boolean {
  return ["$ref", "anyOf", "oneOf", "allOf"].some((keyword) => keyword in schema);
}

function convert(given: unknown, context: Context, depth: number): Written {
  const schema = resolveRef(given, context.root);
  const { budget } = context;
  if (!isRecord(schema)) return asText({}, "any", budget);
  const kind = guessedType(schema) === "object" ? "object" : "any";
  // The rest of the schema is left out: arguments are checked against the tool's own schema anyway.
  if (!isCharged(schema, budget)) return asText(isText(schema.type) ? { type: schema.type } : {}, kind, budget);
  if (depth > deepest || (schema !== given && context.within.includes(schema))) {
    budget.left -= longestNote / sizeOfPart;
    return asText(schema, kind, budget);
  }
  const inner = schema === given ? context : { ...context, within: [...context.within, schema] };
  const next = (part: unknown) => convert(part, inner, depth + 1);
  // Large copies are made only within the budget: there may be one for each alternative.
  const nextOf = (copy: (one: unknown) => unknown) => (one: unknown) => next(budget.left > 0 ? copy(one) : one);
  const alternatives = alternativesOf(schema, context);
  if (Array.isArray(alternatives)) {
    return fromAlternatives(
      schema,
      alternatives,
      nextOf((one) => withOuter(schema, one)),
      budget,
    );
  }
  if (alternatives) return next(alternatives);
  if (choicesOf(schema)) return choice(schema, choicesOf(schema) ?? [], budget);
  const types = listOf(Array.isArray(schema.type) ? schema.type : [schema.type]).filter((type) => type !== "null");
  if (types.length > 1) {
    return fromAlternatives(
      schema,
      listOf(schema.type).map((type) => ({ type })),
      nextOf((one) => Object.assign({}, schema, one)),
      budget,
    );
  }
  const type = types[0] ?? guessedType(schema);
  const isNullable = schema.nullable === true || listOf(schema.type).includes("null");
  if (type === "object") return object(schema, isNullable, next, budget);
  if (type === "array") return array(schema, isNullable, next);
  return isScalar(type) ? { schema: fieldsOf(schema, type, isNullable) } : asText(schema, "any", budget);
}

/** False once the budget is spent. */
function isCharged(schema: Schema, budget: PartsLeft): boolean {
  if (budget.left <= 0) return false;
  const sizes = Object.values(schema).map((value) => (isText(value) || Array.isArray(value) ? value.length : 1));
  budget.left -= 1 + sizes.reduce((sum, size) => sum + size, 0) / sizeOfPart;
  chargedJson([schema.default, schema.enum, schema.const], budget);
  return budget.left >= 0;
}

/** One merged schema, or a list if the value is one of several. */
function alternativesOf(schema: Schema, context: Context): Schema | unknown[] | undefined {
  const union = Array.isArray(schema.anyOf) ? schema.anyOf : schema.oneOf;
  const isObjectItself = isRecord(schema.properties) && Object.keys(schema.properties).length > 0;
  if (Array.isArray(schema.allOf) || (Array.isArray(union) && isObjectItself)) {
    const folded = foldObject(schema, context.root, context.budget);
    if (folded) return { ...folded, ...(listOf(union).some(isNull) && { nullable: true }) };
    const { allOf, ...own } = schema;
    if (allOf !== undefined) return { ...mergedParts(listOf(allOf), context), ...own };
  }
  return Array.isArray(union) ? union : undefined;
}

function mergedParts(parts: readonly unknown[], { root, budget }: Context): Schema {
  const merged: Schema = {};
  for (const one of parts) {
    const part = resolveRef(one, root);
    if (isRecord(part) && isCharged(part, budget)) Object.assign(merged, part);
  }
  return merged;
}

function fromAlternatives(
  schema: Schema,
  alternatives: readonly unknown[],
  next: (part: unknown) => Written,
  budget: PartsLeft,
): Written {
  const real = alternatives.filter((one) => !isNull(one));
  const nullable = real.length < alternatives.length || schema.nullable === true;
  const written = real.map(next);
  if (written.length === 0 || written.some((one) => one.asText === "any")) return asText(schema, "any", budget);
  const hasText = written.some((one) => one.schema.type === "string" && !one.restore);
  // A value written as text is wrapped if plain text is an alternative: the two look the same.
  const branches = written.map((one) => (one.asText && hasText ? wrapped(one.schema, one.restore) : one));
  // Gemini accepts no other keyword next to anyOf, so shared keywords are copied into each alternative.
  const flat = branches.flatMap(({ schema: one, restore }): Offered[] =>
    Array.isArray(one.anyOf)
      ? one.anyOf.map((inner: Schema) => ({ schema: inner, restore }))
      : [{ schema: one, restore }],
  );
  const shared = distinct(distinct(flat).map((one) => ({ ...one, schema: within(schema, one.schema, nullable) })));
  const [only] = shared;
  if (only && shared.length === 1) return { ...written[0], ...only };
  const restore: Restore = (value) => {
    const taken = shared.find((one) => fits(value, one.schema));
    return taken?.restore ? taken.restore(value) : value;
  };
  return {
    schema: { anyOf: shared.map((one) => one.schema) },
    restore: shared.some((one) => one.restore) ? restore : undefined,
  };
}

/** Keywords next to a union apply to each alternative. */
function withOuter({ anyOf, oneOf, description, nullable, default: _, ...outer }: Schema, one: unknown): unknown {
  return isRecord(one) && one.$ref === undefined ? { ...outer, ...one } : one;
}

function distinct(offered: readonly Offered[]): Offered[] {
  const byText = new Map<string, Offered>();
  for (const one of offered) {
    const text = JSON.stringify(one.schema);
    if (!byText.has(text)) byText.set(text, one);
  }
  return [...byText.values()];
}

function within(outer: Schema, schema: Schema, nullable: boolean): Schema {
  const texts = [outer.description, schema.description].filter((one) => typeof one === "string");
  const [first = "", second = first] = texts;
  return {
    ...schema,
    ...(texts.length > 0 && { description: second.startsWith(first) ? second : texts.join("\n") }),
    ...(nullable && { nullable }),
  };
}

function object(schema: Schema, isNullable: boolean, next: (part: unknown) => Written, budget: PartsLeft): Written {
  const { properties } = schema;
  if (!isRecord(properties) || Object.keys(properties).length === 0) {
    return asText(schema, "object", budget, isNullable);
  }
  const parts = Object.entries(properties).map(([name, part]) => [name, next(part)] as const);
  const required = listOf(schema.required).filter((name) => Object.hasOwn(properties, String(name)));
  const restores = new Map(parts.flatMap(([name, { restore }]) => (restore ? [[name, restore] as const] : [])));
  return {
    schema: {
      ...fieldsOf(schema, "object", isNullable),
      properties: Object.fromEntries(parts.map(([name, part]) => [name, part.schema])),
      ...(required.length > 0 && { required }),
    },
    restore: restores.size === 0 ? undefined : (value) => restoredFields(value, restores),
  };
}

function restoredFields(value: unknown, restores: ReadonlyMap<string, Restore>): unknown {
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([name, one]) => {
    const restore = restores.get(name);
    return [name, restore ? restore(one) : one];
  });
  return Object.fromEntries(entries);
}

function array(schema: Schema, isNullable: boolean, next: (part: unknown) => Written): Written {
  const itemSchemas = [schema.prefixItems, schema.items].filter(Array.isArray).flat();
  const { schema: items, restore } = next(itemSchemas.length > 0 ? { anyOf: itemSchemas } : (schema.items ?? {}));
  return {
    schema: { ...fieldsOf(schema, "array", isNullable), items },
    restore: restore && ((value) => (Array.isArray(value) ? value.map(restore) : value)),
  };
}

/** Gemini supports only enumerations of non-empty strings. */
function choice(schema: Schema, choices: readonly unknown[], budget: PartsLeft): Written {
  const real = choices.filter((one) => one !== null);
  if (real.length === 0) return asText(schema, "any", budget);
  const written = fieldsOf({ ...schema, default: undefined }, "string", real.length < choices.length);
  if (real.includes("")) {
    const note = `One of: ${JSON.stringify(choices).slice(0, longestNote)}`;
    return { schema: within({ description: schema.description }, { ...written, description: note }, false) };
  }
  const byText = new Map(real.map((one) => [typeof one === "string" ? one : JSON.stringify(one), one]));
  const areTexts = real.every(isText);
  return {
    schema: { ...written, enum: [...byText.keys()] },
    restore: areTexts
      ? undefined
      : (value) => (typeof value === "string" && byText.has(value) ? byText.get(value) : value),
  };
}

/** The model writes the value as JSON text. */
function asText(schema: Schema, kind: "object" | "any", budget: PartsLeft, isNullable = false): Written {
  const { description: _, title, default: __, ...rest } = schema;
  const isFree = [{}, { type: "object" }, { type: "object", additionalProperties: true }].some((one) =>
    isDeepStrictEqual(rest, one),
  );
  const details = isFree ? "" : ` Its JSON Schema: ${chargedJson(rest, budget).slice(0, longestNote)}`;
  const note = `A JSON ${kind === "object" ? "object" : "value"}, written as text.${details}`;
  const description = [schema.description, note].filter(isText).join("\n");
  return {
    schema: { type: "string", description, ...(isNullable && { nullable: true }) },
    asText: kind,
    restore: (value) => parsedText(value, kind),
  };
}

/** Invalid text stays as it is: the tool's own schema reports the error. */
function parsedText(value: unknown, kind: "object" | "any"): unknown {
  if (typeof value !== "string") return value;
  try {
    const parsed: unknown = JSON.parse(value);
    // Digits that do not round-trip as a number are an identifier, such as an account or a code.
    if (typeof parsed === "number" && String(parsed) !== value.trim()) return value;
    return kind === "any" || isRecord(parsed) ? parsed : value;
  } catch {
    return value;
  }
}

/** Keywords that apply only to strings. */
const stringKeywords = ["pattern", "minLength", "maxLength", "format", "contentEncoding", "contentMediaType"];

function guessedType(schema: Schema): string | undefined {
  if (typeof schema.type === "string") return schema.type;
  if (isRecord(schema.properties) || isRecord(schema.additionalProperties) || schema.required) return "object";
  if (schema.items !== undefined || schema.prefixItems !== undefined) return "array";
  return stringKeywords.some((keyword) => schema[keyword] !== undefined) ? "string" : undefined;
}
