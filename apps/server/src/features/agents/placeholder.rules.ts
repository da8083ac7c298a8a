import type { Placeholder, PlaceholderStep } from "../../engines/templates/templates.ts";
import { isRecord } from "../../kernel/is-record.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Bounds the search of recursive schemas. */
const maxVisits = 2000;

/** Placeholders of the template that the schema does not define. */
export function unknownPlaceholders(placeholders: readonly Placeholder[], schema: Schema): string[] {
  const unknown = placeholders.filter(({ path }) => !new Search(schema).has(schema, path, true));
  return [...new Set(unknown.map(({ text }) => text))];
}

/** Looks up a path in a schema. In doubt the path exists: false warnings teach people to ignore warnings. */
class Search {
  readonly #root: Schema;
  #visits = 0;

  constructor(root: Schema) {
    this.#root = root;
  }

  has(schema: unknown, path: readonly PlaceholderStep[], isRoot = false): boolean {
    if (path.length === 0 || schema === true) return true;
    if (!isRecord(schema)) return false;
    if (++this.#visits > maxVisits) return true;
    // Below the root, a schema without structure accepts anything.
    if (!isRoot && !structural.some((keyword) => keyword in schema)) return admits(schema, path[0] ?? null);
    return this.#here(schema, path) || this.#parts(schema).some((part) => this.has(part, path, isRoot));
  }

  #here(schema: Schema, path: readonly PlaceholderStep[]): boolean {
    const [step, ...rest] = path;
    const inItems = (into: readonly PlaceholderStep[]) =>
      "prefixItems" in schema || Array.isArray(schema.items) || (isOpen(schema.items) && this.has(schema.items, into));
    if (step === null || step === undefined)
      return inItems(rest) || "properties" in schema || "additionalProperties" in schema;
    const { properties, patternProperties, additionalProperties, unevaluatedProperties } = schema;
    if (isRecord(properties) && Object.hasOwn(properties, step)) return this.has(properties[step], rest);
    if (isRecord(patternProperties)) return true;
    if ([additionalProperties, unevaluatedProperties].some((open) => isOpen(open) && this.has(open, rest))) return true;
    if (/^\d+$/.test(step) && inItems(rest)) return true;
    // Sections iterate over lists; lists and strings have a length.
    return inItems(path) || (step === "length" && admits(schema, null));
  }

  /** Schemas that apply to the same value. */
  #parts(schema: Schema): unknown[] {
    const parts: unknown[] = [schema.if, schema.then, schema.else].filter((part) => part !== undefined);
    for (const keyword of ["allOf", "anyOf", "oneOf"])
      if (Array.isArray(schema[keyword])) parts.push(...schema[keyword]);
    if (isRecord(schema.dependentSchemas)) parts.push(...Object.values(schema.dependentSchemas));
    for (const keyword of ["$ref", "$dynamicRef"]) {
      if (typeof schema[keyword] === "string") parts.push(this.#resolve(schema[keyword]));
    }
    return parts;
  }

  #resolve(reference: string): unknown {
    // Anchors and ids are rare and count as known.
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

const structural = [
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

function isOpen(value: unknown): boolean {
  return value === true || isRecord(value);
}

/** Whether values of this type have parts. */
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
