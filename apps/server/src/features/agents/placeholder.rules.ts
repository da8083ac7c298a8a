import type { Placeholder, PlaceholderStep } from "../../engines/templates/templates.ts";

type Schema = Readonly<Record<string, unknown>>;

/** A schema that refers to itself is followed this many times altogether. */
const maxVisits = 2000;

/** The placeholders for which the schema has no place, as the template spells them. */
export function unknownPlaceholders(placeholders: readonly Placeholder[], schema: Schema): string[] {
  const unknown = placeholders.filter(({ path }) => !new Search(schema).has(schema, path, true));
  return [...new Set(unknown.map(({ text }) => text))];
}

/** Looks a place up in a schema. In doubt it is there: this is for warnings, and a false one teaches to ignore them. */
class Search {
  readonly #root: Schema;
  #visits = 0;

  constructor(root: Schema) {
    this.#root = root;
  }

  has(schema: unknown, path: readonly PlaceholderStep[], isRoot = false): boolean {
    if (path.length === 0 || schema === true) return true;
    if (!isSchema(schema)) return false;
    if (++this.#visits > maxVisits) return true;
    // Below the root, what is not described may be anything.
    if (!isRoot && !describes.some((word) => word in schema)) return admits(schema, path[0] ?? null);
    return this.#here(schema, path) || this.#parts(schema).some((part) => this.has(part, path, isRoot));
  }

  #here(schema: Schema, path: readonly PlaceholderStep[]): boolean {
    const [step, ...rest] = path;
    const inItems = (into: readonly PlaceholderStep[]) =>
      "prefixItems" in schema || Array.isArray(schema.items) || (isOpen(schema.items) && this.has(schema.items, into));
    if (step === null || step === undefined)
      return inItems(rest) || "properties" in schema || "additionalProperties" in schema;
    const { properties, patternProperties, additionalProperties, unevaluatedProperties } = schema;
    if (isSchema(properties) && Object.hasOwn(properties, step)) return this.has(properties[step], rest);
    if (isSchema(patternProperties)) return true;
    if ([additionalProperties, unevaluatedProperties].some((open) => isOpen(open) && this.has(open, rest))) return true;
    if (/^\d+$/.test(step) && inItems(rest)) return true;
    // A section goes over a list as over an object; lists and texts have a length.
    return inItems(path) || (step === "length" && admits(schema, null));
  }

  /** The schemas that hold for the same place. */
  #parts(schema: Schema): unknown[] {
    const parts: unknown[] = [schema.if, schema.then, schema.else].filter((part) => part !== undefined);
    for (const word of ["allOf", "anyOf", "oneOf"]) if (Array.isArray(schema[word])) parts.push(...schema[word]);
    if (isSchema(schema.dependentSchemas)) parts.push(...Object.values(schema.dependentSchemas));
    for (const word of ["$ref", "$dynamicRef"]) {
      if (typeof schema[word] === "string") parts.push(this.#resolve(schema[word]));
    }
    return parts;
  }

  #resolve(reference: string): unknown {
    // Anchors and ids are rare; what they lead to counts as known.
    if (reference !== "#" && !reference.startsWith("#/")) return true;
    let here: unknown = this.#root;
    for (const step of reference.split("/").slice(1)) {
      const name = decode(step).replaceAll("~1", "/").replaceAll("~0", "~");
      here =
        typeof here === "object" && here !== null && Object.hasOwn(here, name) ? (here as Schema)[name] : undefined;
    }
    return here;
  }
}

const describes = [
  "properties",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "items",
  "prefixItems",
  "allOf",
  "anyOf",
  "oneOf",
  "if",
  "dependentSchemas",
  "$ref",
  "$dynamicRef",
];

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isOpen(value: unknown): boolean {
  return value === true || isSchema(value);
}

/** Whether a value of this schema's type can have something inside it at all. */
function admits({ type }: Schema, step: PlaceholderStep): boolean {
  const types = typeof type === "string" ? [type] : Array.isArray(type) ? type : undefined;
  if (types === undefined || types.includes("object") || types.includes("array")) return true;
  return step === "length" && types.includes("string");
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
