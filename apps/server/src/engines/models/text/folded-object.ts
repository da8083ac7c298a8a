import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../../kernel/is-record.ts";

type Schema = Record<string, unknown>;

interface Parts {
  properties: Map<string, unknown[]>;
  required: Set<string>;
}

/** Bounds the schemas visited, because alternatives may refer to their own union. */
export interface PartsLeft {
  left: number;
}

const deepest = 8;
const mostParts = 2000;
const longestNote = 2000;
const unions = { anyOf: "at least one", oneOf: "exactly one" } as const;
/** Keywords that a list of properties cannot express. */
const combining = new Set(["$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const"]);

/**
 * Turns a union or composition of objects into one object. Properties of all alternatives are allowed, properties that
 * all of them require are required, and the description lists the alternatives. The result is looser than the original,
 * so the receiver of the value checks it again. Undefined if the value may be something other than an object.
 */
export function foldObject(given: unknown, root: unknown, budget: PartsLeft = { left: mostParts }): Schema | undefined {
  const schema = resolveRef(given, root);
  const parts = partsOf(schema, root, budget, 0);
  if (!parts || !isRecord(schema)) return undefined;
  const plain = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !combining.has(keyword)));
  const description = [schema.description, ...notesOf(schema, root)].filter((text) => typeof text === "string");
  const properties = Object.fromEntries([...parts.properties].map(([name, schemas]) => [name, oneOfAll(schemas)]));
  const required = [...parts.required].filter((name) => Object.hasOwn(properties, name));
  // `additionalProperties: false` would exclude the properties of the alternatives.
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

function partsOf(given: unknown, root: unknown, budget: PartsLeft, depth: number): Parts | undefined {
  const schema = resolveRef(given, root);
  if (!isRecord(schema) || depth > deepest || budget.left-- <= 0 || !mayBeObject(schema)) return undefined;
  const parts: Parts = { properties: new Map(), required: new Set(listOf(schema.required).map(String)) };
  addProperties(parts, isRecord(schema.properties) ? schema.properties : {});
  for (const one of listOf(schema.allOf)) {
    const more = partsOf(one, root, budget, depth + 1);
    if (!more) return undefined;
    for (const [name, schemas] of more.properties) addSchemas(parts, name, schemas);
    for (const name of more.required) parts.required.add(name);
  }
  for (const keyword of Object.keys(unions)) {
    const alternatives = listOf(schema[keyword]).filter((one) => !isNull(one));
    const found = alternatives.map((one) => partsOf(one, root, budget, depth + 1)).filter((one) => one !== undefined);
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

/** Constants that distinguish alternatives become one enum. */
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
    .filter(([keyword]) => listOf(schema[keyword]).length > 0)
    .map(([keyword, many]) => {
      const alternatives = listOf(schema[keyword]).map((one) => resolveRef(one, root));
      return `It must match ${many} of these schemas: ${JSON.stringify(alternatives).slice(0, longestNote)}`;
    });
}

/** Bounds chains of references, which may be circular. */
const mostHops = 8;

/** Follows local references. Undefined if the target does not exist. */
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
