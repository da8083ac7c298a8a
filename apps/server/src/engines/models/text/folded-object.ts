import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../../kernel/is-record.ts";

type Schema = Record<string, unknown>;

interface Parts {
  properties: Map<string, unknown[]>;
  required: Set<string>;
}

/** Parts that may still be looked at: alternatives that refer to their own union would be looked at without end. */
export interface PartsLeft {
  left: number;
}

const deepest = 8;
const mostParts = 2000;
const longestNote = 2000;
const unions = { anyOf: "at least one", oneOf: "exactly one" } as const;
/** What says more of an object than its list of properties can. */
const combining = new Set(["$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const"]);

/**
 * An object whose schema is a union, or put together of several, as one list of properties: what any alternative has
 * may stand in it, what all of them require is required, and the alternatives are told in words. Undefined where it may
 * be anything else than an object. Looser than what it was: whoever gets the value checks it.
 */
export function foldObject(given: unknown, root: unknown, room: PartsLeft = { left: mostParts }): Schema | undefined {
  const schema = resolveRef(given, root);
  const parts = partsOf(schema, root, room, 0);
  if (!parts || !isRecord(schema)) return undefined;
  const plain = Object.fromEntries(Object.entries(schema).filter(([word]) => !combining.has(word)));
  const description = [schema.description, ...notesOf(schema, root)].filter((text) => typeof text === "string");
  const properties = Object.fromEntries([...parts.properties].map(([name, schemas]) => [name, oneOfAll(schemas)]));
  const required = [...parts.required].filter((name) => Object.hasOwn(properties, name));
  // What was closed around its own properties would shut those of the alternatives out.
  const isOpen =
    Object.keys(properties).length > Object.keys(isRecord(plain.properties) ? plain.properties : {}).length;
  return {
    ...plain,
    type: "object",
    properties,
    required,
    ...(description.length > 0 && { description: description.join("\n") }),
    ...(isOpen && { additionalProperties: undefined }),
  };
}

function partsOf(given: unknown, root: unknown, room: PartsLeft, depth: number): Parts | undefined {
  const schema = resolveRef(given, root);
  if (!isRecord(schema) || depth > deepest || room.left-- <= 0 || !mayBeObject(schema)) return undefined;
  const parts: Parts = { properties: new Map(), required: new Set(listOf(schema.required).map(String)) };
  addProperties(parts, isRecord(schema.properties) ? schema.properties : {});
  for (const one of listOf(schema.allOf)) {
    const more = partsOf(one, root, room, depth + 1);
    if (!more) return undefined;
    for (const [name, schemas] of more.properties) addSchemas(parts, name, schemas);
    for (const name of more.required) parts.required.add(name);
  }
  for (const word of Object.keys(unions)) {
    const alternatives = listOf(schema[word]).filter((one) => !isNull(one));
    const found = alternatives.map((one) => partsOf(one, root, room, depth + 1)).filter((one) => one !== undefined);
    if (found.length < alternatives.length) return undefined;
    for (const one of found) for (const [name, schemas] of one.properties) addSchemas(parts, name, schemas);
    const [first, ...others] = found.map(({ required }) => required);
    for (const name of first ?? []) if (others.every((required) => required.has(name))) parts.required.add(name);
  }
  return parts;
}

function addProperties(parts: Parts, properties: Schema): void {
  for (const [name, schema] of Object.entries(properties)) addSchemas(parts, name, [schema]);
}

function addSchemas({ properties }: Parts, name: string, schemas: readonly unknown[]): void {
  const known = properties.get(name) ?? [];
  properties.set(name, [...known, ...schemas.filter((one) => !known.some((other) => isDeepStrictEqual(one, other)))]);
}

/** Fixed values that tell alternatives apart become one choice. */
function oneOfAll(schemas: readonly unknown[]): unknown {
  if (schemas.length === 1) return schemas[0];
  const choices = schemas
    .map((one) => (isRecord(one) ? choicesOf(one) : undefined))
    .filter((list) => list !== undefined);
  return choices.length === schemas.length ? { enum: [...new Set(choices.flat())] } : { anyOf: schemas };
}

export function choicesOf(schema: Schema): unknown[] | undefined {
  if (schema.const !== undefined) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

function mayBeObject(schema: Schema): boolean {
  if (choicesOf(schema) !== undefined) return false;
  return schema.type === undefined || schema.type === "object" || listOf(schema.type).includes("object");
}

export function isNull(schema: unknown): boolean {
  return isRecord(schema) && (schema.type === "null" || schema.const === null);
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function notesOf(schema: Schema, root: unknown): string[] {
  return Object.entries(unions)
    .filter(([word]) => listOf(schema[word]).length > 0)
    .map(([word, many]) => {
      const alternatives = listOf(schema[word]).map((one) => resolveRef(one, root));
      return `It must match ${many} of these schemas: ${JSON.stringify(alternatives).slice(0, longestNote)}`;
    });
}

/** References to references, but not in a circle. */
const mostHops = 8;

/** The schema that a local `$ref` stands for; what is no reference stands for itself, a lost one for nothing. */
export function resolveRef(given: unknown, root: unknown): unknown {
  let schema = given;
  for (let hops = 0; hops < mostHops; hops++) {
    if (!isRecord(schema) || typeof schema.$ref !== "string" || !/^#(?:\/|$)/.test(schema.$ref)) return schema;
    schema = at(root, schema.$ref.split("/").slice(1));
  }
  return undefined;
}

function at(root: unknown, steps: readonly string[]): unknown {
  let target = root;
  for (const step of steps) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    const isThere = typeof target === "object" && target !== null && Object.hasOwn(target, name);
    target = isThere ? (target as Record<string, unknown>)[name] : undefined;
  }
  return target;
}
