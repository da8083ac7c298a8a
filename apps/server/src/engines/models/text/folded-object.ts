import { isRecord } from "../../../kernel/is-record.ts";

type Schema = Record<string, unknown>;

interface Parts {
  /** The different schemas of each property, by their JSON text. */
  properties: Map<string, Map<string, unknown>>;
  required: Set<string>;
}

/** Bounds the schemas visited, because alternatives may refer to their own union. */
export interface PartsLeft {
  left: number;
}

interface Fold {
  root: unknown;
  budget: PartsLeft;
  /** JSON text of property schemas. References can lead to the same large one many times. */
  texts: Map<unknown, string>;
}

const deepest = 8;
const mostParts = 2000;
/** Properties and other entries count too: references can multiply them. */
const entriesOfPart = 20;
/** Characters of JSON text. */
const jsonOfPart = 10_000;
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
  const fold: Fold = { root, budget, texts: new Map() };
  const parts = partsOf(schema, fold, 0);
  if (!parts || !isRecord(schema)) return undefined;
  const plain = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !combining.has(keyword)));
  const description = [schema.description, ...notesOf(schema, fold)].filter((text) => typeof text === "string");
  const properties = Object.fromEntries(
    [...parts.properties].map(([name, schemas]) => [name, oneOfAll([...schemas.values()])]),
  );
  const required = [...parts.required].filter((name) => Object.hasOwn(properties, name));
  // `additionalProperties: false` would exclude the properties of the alternatives.
  const isOpen = Object.keys(properties).length > Object.keys(propertiesOf(plain)).length;
  return {
    ...plain,
    type: "object",
    properties,
    required,
    ...(description.length > 0 && { description: description.join("\n") }),
    ...(isOpen && { additionalProperties: undefined }),
  };
}

function partsOf(given: unknown, fold: Fold, depth: number): Parts | undefined {
  const schema = resolveRef(given, fold.root);
  if (!isRecord(schema) || depth > deepest || !mayBeObject(schema) || !isCharged(schema, fold.budget)) return undefined;
  const parts: Parts = { properties: new Map(), required: new Set(namesIn(schema.required)) };
  for (const [name, one] of Object.entries(propertiesOf(schema))) {
    addSchemas(parts, name, new Map([[textOf(one, fold), one]]));
  }
  const composed = partsOfAll(listOf(schema.allOf), fold, depth + 1);
  if (!composed) return undefined;
  for (const one of composed) {
    addProperties(parts, one);
    for (const name of one.required) parts.required.add(name);
  }
  for (const keyword of Object.keys(unions)) {
    const alternatives = listOf(schema[keyword]).filter((one) => !isNull(one));
    const found = partsOfAll(alternatives, fold, depth + 1);
    if (!found) return undefined;
    for (const one of found) addProperties(parts, one);
    const [first, ...others] = found.map(({ required }) => required);
    for (const name of first ?? []) if (others.every((required) => required.has(name))) parts.required.add(name);
  }
  return parts;
}

/** Undefined if one of them may be something other than an object. */
function partsOfAll(schemas: readonly unknown[], fold: Fold, depth: number): Parts[] | undefined {
  const all: Parts[] = [];
  for (const one of schemas) {
    const parts = partsOf(one, fold, depth);
    if (!parts) return undefined;
    all.push(parts);
  }
  return all;
}

/** False once the budget is spent. */
function isCharged(schema: Schema, budget: PartsLeft): boolean {
  if (budget.left <= 0) return false;
  const lists = [Object.keys(propertiesOf(schema)), schema.required, schema.allOf, schema.anyOf, schema.oneOf];
  const entries = lists.reduce<number>((sum, list) => sum + listOf(list).length, 0);
  budget.left -= 1 + entries / entriesOfPart;
  return budget.left >= 0;
}

/** JSON text, which counts too: references can lead to the same large value many times. */
export function chargedJson(value: unknown, budget: PartsLeft): string {
  const json = JSON.stringify(value);
  budget.left -= json.length / jsonOfPart;
  return json;
}

function propertiesOf({ properties }: Schema): Schema {
  return isRecord(properties) ? properties : {};
}

function addProperties(parts: Parts, { properties }: Parts): void {
  for (const [name, schemas] of properties) addSchemas(parts, name, schemas);
}

function addSchemas({ properties }: Parts, name: string, schemas: ReadonlyMap<string, unknown>): void {
  const known = properties.get(name) ?? new Map<string, unknown>();
  for (const [text, one] of schemas) known.set(text, one);
  properties.set(name, known);
}

function textOf(schema: unknown, { texts, budget }: Fold): string {
  const text = texts.get(schema) ?? chargedJson(schema, budget);
  texts.set(schema, text);
  return text;
}

function namesIn(required: unknown): string[] {
  return listOf(required).filter((name) => typeof name === "string");
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

function notesOf(schema: Schema, fold: Fold): string[] {
  return Object.entries(unions)
    .filter(([keyword]) => listOf(schema[keyword]).length > 0)
    .map(([keyword, many]) => {
      const alternatives = startOfJson(listOf(schema[keyword]), fold);
      return `It must match ${many} of these schemas: ${alternatives}`;
    });
}

/** Writes no more than the note has, because references can repeat a large schema. */
function startOfJson(alternatives: readonly unknown[], { root, budget }: Fold): string {
  let json = "";
  for (const one of alternatives) {
    json += `${json === "" ? "[" : ","}${chargedJson(resolveRef(one, root) ?? null, budget)}`;
    if (json.length > longestNote) break;
  }
  return `${json}]`.slice(0, longestNote);
}

/** Bounds chains of references, which may be circular. */
const mostHops = 8;
/** Characters. Every part of a schema may lead to the same reference. */
const longestRef = 1000;

/** Follows local references. Undefined if the target does not exist. */
export function resolveRef(given: unknown, root: unknown): unknown {
  let schema = given;
  for (let hops = 0; hops < mostHops; hops++) {
    if (!isRecord(schema) || typeof schema.$ref !== "string" || !/^#(?:\/|$)/.test(schema.$ref)) return schema;
    if (schema.$ref.length > longestRef) return undefined;
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
