import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../../kernel/is-record.ts";
import { choicesOf, foldObject, isNull, listOf, type PartsLeft, resolveRef } from "../text/folded-object.ts";
import { type Offered, type Restore, wrapped } from "../text/tool-parameters.ts";
import { fieldsOf, fits, isScalar, isText } from "./schema-fields.ts";

type Schema = Record<string, unknown>;

const deepest = 16;
const mostParts = 2000;
/** So much text of a schema counts as a part: written out, a long description may stand in a thousand places. */
const charactersOfPart = 100;
const longestNote = 500;

interface Whole {
  root: unknown;
  room: PartsLeft;
  /** What references around this place stand for: met again, it would have no end. */
  within: readonly unknown[];
}

interface Written extends Offered {
  /** It stands for a value that Gemini's schema cannot describe, or for one of any kind. */
  asText?: "object" | "any";
}

const offers = new WeakMap<Schema, Written>();

/**
 * A JSON Schema in Gemini's own, which has no value of any kind and no object of unknown properties: such a value is
 * asked for as text that holds its JSON, and read again. The same for numbers of which some are allowed only.
 * References are written out; where one has no end, the rest is text too. Limits that Gemini cannot say are left out.
 *
 * `parametersJsonSchema` and `responseJsonSchema` would take more, but not under every version of the API, nor from
 * every model and server that speaks it.
 */
export function toGoogleSchema(schema: Schema): Written {
  let written = offers.get(schema);
  if (!written) {
    // An object at the top is what all models and versions take.
    const top = isUnion(schema) ? (foldObject(schema, schema) ?? schema) : schema;
    const hasParts = isRecord(top.properties) && Object.keys(top.properties).length > 0;
    written = convert(hasParts ? top : schema, { root: schema, room: { left: mostParts }, within: [] }, 0);
    offers.set(schema, written);
  }
  return written;
}

/**
 * The parameters of a function, which must be an object; undefined for none, since one without properties is refused.
 * `mustBeGiven`: whatever the schema says, something is to be handed in.
 */
export function toGoogleParameters(schema: Schema, mustBeGiven: boolean): Offered | undefined {
  const written = toGoogleSchema(schema);
  if (written.schema.type === "object") return written;
  const isOpen = schema.additionalProperties === true || isRecord(schema.additionalProperties);
  if (written.asText && !mustBeGiven && !isOpen && !isUnion(schema)) return undefined;
  return wrapped(written.schema, written.restore);
}

function isUnion(schema: Schema): boolean {
  return ["$ref", "anyOf", "oneOf", "allOf"].some((word) => word in schema);
}

function convert(given: unknown, whole: Whole, depth: number): Written {
  const schema = resolveRef(given, whole.root);
  if (!isRecord(schema)) return asText({}, "any");
  const kind = guessedType(schema) === "object" ? "object" : "any";
  // From here on nothing more is said of what follows: the tool's own schema is checked anyway.
  if (whole.room.left <= 0) return asText({ type: schema.type }, kind);
  const { description } = schema;
  whole.room.left -= 1 + (isText(description) ? description.length / charactersOfPart : 0);
  if (depth > deepest || (schema !== given && whole.within.includes(schema))) {
    whole.room.left -= longestNote / charactersOfPart;
    return asText(schema, kind);
  }
  const inner = schema === given ? whole : { ...whole, within: [...whole.within, schema] };
  const next = (part: unknown) => convert(part, inner, depth + 1);
  const alternatives = alternativesOf(schema, whole);
  if (Array.isArray(alternatives)) return fromAlternatives(schema, alternatives, next);
  if (alternatives) return next(alternatives);
  if (choicesOf(schema)) return choice(schema, choicesOf(schema) ?? []);
  const types = listOf(Array.isArray(schema.type) ? schema.type : [schema.type]).filter((type) => type !== "null");
  if (types.length > 1)
    return fromAlternatives(
      schema,
      listOf(schema.type).map((type) => ({ ...schema, type })),
      next,
    );
  const type = types[0] ?? guessedType(schema);
  const isNullable = schema.nullable === true || listOf(schema.type).includes("null");
  if (type === "object") return object(schema, isNullable, next);
  if (type === "array") return array(schema, isNullable, next);
  return isScalar(type) ? { schema: fieldsOf(schema, type, isNullable) } : asText(schema, "any");
}

/** One schema in place of several where they can be put together, a list where the value is one of several. */
function alternativesOf(schema: Schema, whole: Whole): Schema | unknown[] | undefined {
  const union = Array.isArray(schema.anyOf) ? schema.anyOf : schema.oneOf;
  const isObjectItself = isRecord(schema.properties) && Object.keys(schema.properties).length > 0;
  if (Array.isArray(schema.allOf) || (Array.isArray(union) && isObjectItself)) {
    const folded = foldObject(schema, whole.root, whole.room);
    if (folded) return { ...folded, ...(listOf(union).some(isNull) && { nullable: true }) };
    const { allOf, ...own } = schema;
    if (allOf !== undefined) return Object.assign({}, ...listOf(allOf).map((one) => resolveRef(one, whole.root)), own);
  }
  return Array.isArray(union) ? union : undefined;
}

function fromAlternatives(schema: Schema, alternatives: readonly unknown[], next: (part: unknown) => Written): Written {
  const real = alternatives.filter((one) => !isNull(one));
  const nullable = real.length < alternatives.length || schema.nullable === true;
  const written = real.map((one) => next(withOuter(schema, one)));
  if (written.length === 0 || written.some((one) => one.asText === "any")) return asText(schema, "any");
  const hasText = written.some((one) => one.schema.type === "string" && !one.restore);
  // Beside plain text it could not be told from it.
  const branches = written.map((one) => (one.asText && hasText ? wrapped(one.schema, one.restore) : one));
  // Nothing may stand beside a list of alternatives: what holds for all of them goes into each.
  const flat = branches.flatMap(({ schema: one, restore }): Offered[] =>
    Array.isArray(one.anyOf)
      ? one.anyOf.map((inner: Schema) => ({ schema: inner, restore }))
      : [{ schema: one, restore }],
  );
  const shared = distinct(flat.map((one) => ({ ...one, schema: within(schema, one.schema, nullable) })));
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

/** What stands beside a union holds for each of its alternatives. */
function withOuter({ anyOf, oneOf, description, nullable, default: _, ...outer }: Schema, one: unknown): unknown {
  return isRecord(one) && one.$ref === undefined ? { ...outer, ...one } : one;
}

function distinct(offered: readonly Offered[]): Offered[] {
  return offered.filter((one, n) => offered.findIndex(({ schema }) => isDeepStrictEqual(schema, one.schema)) === n);
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

function object(schema: Schema, isNullable: boolean, next: (part: unknown) => Written): Written {
  const { properties } = schema;
  if (!isRecord(properties) || Object.keys(properties).length === 0) return asText(schema, "object", isNullable);
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
  const places = [schema.prefixItems, schema.items].filter(Array.isArray).flat();
  const { schema: items, restore } = next(places.length > 0 ? { anyOf: places } : (schema.items ?? {}));
  return {
    schema: { ...fieldsOf(schema, "array", isNullable), items },
    restore: restore && ((value) => (Array.isArray(value) ? value.map(restore) : value)),
  };
}

/** It knows enumerations of texts only, and no empty text among them. */
function choice(schema: Schema, choices: readonly unknown[]): Written {
  const real = choices.filter((one) => one !== null);
  if (real.length === 0) return asText(schema, "any");
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

/** A value that is written as the text of its JSON. */
function asText(schema: Schema, kind: "object" | "any", isNullable = false): Written {
  const { description: _, title, default: __, ...said } = schema;
  const isFree = [{}, { type: "object" }, { type: "object", additionalProperties: true }].some((one) =>
    isDeepStrictEqual(said, one),
  );
  const told = isFree ? "" : ` Its JSON Schema: ${JSON.stringify(said).slice(0, longestNote)}`;
  const note = `A JSON ${kind === "object" ? "object" : "value"}, written as text.${told}`;
  const description = [schema.description, note].filter(isText).join("\n");
  return {
    schema: { type: "string", description, ...(isNullable && { nullable: true }) },
    asText: kind,
    restore: (value) => parsedText(value, kind),
  };
}

/** What does not hold the JSON that was asked for stays as it is: the tool's own schema says what is wrong with it. */
function parsedText(value: unknown, kind: "object" | "any"): unknown {
  if (typeof value !== "string") return value;
  try {
    const parsed: unknown = JSON.parse(value);
    // A number that would not be written so again is a text of digits: an account, a code.
    if (typeof parsed === "number" && String(parsed) !== value.trim()) return value;
    return kind === "any" || isRecord(parsed) ? parsed : value;
  } catch {
    return value;
  }
}

/** Words that say something of texts only. */
const ofTexts = ["pattern", "minLength", "maxLength", "format", "contentEncoding", "contentMediaType"];

function guessedType(schema: Schema): string | undefined {
  if (typeof schema.type === "string") return schema.type;
  if (isRecord(schema.properties) || isRecord(schema.additionalProperties) || schema.required) return "object";
  if (schema.items !== undefined || schema.prefixItems !== undefined) return "array";
  return ofTexts.some((word) => schema[word] !== undefined) ? "string" : undefined;
}
