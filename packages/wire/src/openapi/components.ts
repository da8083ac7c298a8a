import { z } from "zod";
import type { Api, Json } from "./operation.ts";

type Direction = "input" | "output";

export interface Components {
  schemas: Record<string, Json>;
  /** Each schema has a name, so that generated clients need not invent one. */
  nameOf(schema: z.ZodType): string;
}

export const schemaRef = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** The named schemas of an API, with references between them. */
export function componentsOf({ requests, answers }: Pick<Api, "requests" | "answers">): Components {
  const [sent, answered] = [registryOf(requests), registryOf(answers)];
  return {
    // A schema used both ways is described as an answer: open to new fields.
    schemas: withDiscriminators({ ...describeAll(sent, "input"), ...describeAll(answered, "output") }),
    nameOf(schema) {
      const id = sent.get(schema)?.id ?? answered.get(schema)?.id;
      if (id === undefined) throw new Error("A schema of the API has no name");
      return id;
    },
  };
}

/** Parameters are described by their parsed type, not as text. */
export function describeParameters(query: z.ZodObject): Record<string, Json> {
  const { properties } = z.toJSONSchema(query, { io: "output", unrepresentable: "any", override: tidy });
  return properties as Record<string, Json>;
}

type Names = z.core.$ZodRegistry<{ id: string }>;

function registryOf(named: Readonly<Record<string, z.ZodType>>): Names {
  const names = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) names.add(schema, { id });
  return names;
}

interface Choice {
  oneOf?: { $ref?: string }[];
  properties?: { type?: { const?: string } };
}

/** Discriminators let a client pick the right record without trying all. */
function withDiscriminators(schemas: Record<string, Json>): Record<string, Json> {
  const typeOf = (ref = "") => (schemas[ref.split("/").at(-1) ?? ""] as Choice | undefined)?.properties?.type?.const;
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const mapping = (schema as Choice).oneOf?.map(({ $ref }) => [typeOf($ref), $ref]);
      if (!mapping?.every(([type]) => type !== undefined)) return [name, schema];
      return [name, { ...schema, discriminator: { propertyName: "type", mapping: Object.fromEntries(mapping) } }];
    }),
  );
}

interface Described {
  zodSchema: z.core.$ZodTypes;
  jsonSchema: z.core.JSONSchema.BaseSchema;
}

/**
 * Removes noise (safe integer bounds, names as strings, date patterns) and patterns that other languages cannot read.
 */
function tidy({ zodSchema, jsonSchema }: Described): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  delete jsonSchema.propertyNames;
  const { def } = zodSchema._zod;
  if (def.type === "string" && "format" in def && def.format === "datetime") {
    delete jsonSchema.pattern;
    jsonSchema.format = "date-time";
  }
  if (def.type === "string") keepPatterns(jsonSchema, isPortable);
}

/** Several patterns go into `allOf`. */
function keepPatterns(schema: Described["jsonSchema"], isKept: (pattern: string) => boolean): void {
  const patterns = [schema, ...(schema.allOf ?? [])].flatMap(({ pattern }) => pattern ?? []).filter(isKept);
  const [only, ...others] = patterns;
  delete schema.pattern;
  delete schema.allOf;
  if (others.length > 0) schema.allOf = patterns.map((pattern) => ({ pattern }));
  else if (only !== undefined) schema.pattern = only;
}

function describeAll(names: Names, io: Direction): Record<string, Json> {
  const { schemas } = z.toJSONSchema(names, {
    io,
    uri: (id) => schemaRef(id).$ref as string,
    // Checks that only code can do are left out.
    unrepresentable: "any",
    override: (described) => {
      tidy(described);
      const { jsonSchema } = described;
      if (io === "input") return;
      // Later versions may add fields and change formats, which clients must accept.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (jsonSchema.type === "string") keepPatterns(jsonSchema, () => false);
    },
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _dialect, $id: _address, ...schema }]) => [name, schema]),
  );
}

/** Unicode classes, and groups other than `(?:…)`: look-around, names, flags. */
const beyondPlain = /\\[pPkuc]|\(\?(?!:)/;

/**
 * Whether every language reads a regular expression alike. Generated clients fail to start if they cannot compile a
 * pattern (Python does not know `\P{…}`).
 */
export function isPortable(pattern: string): boolean {
  return !beyondPlain.test(pattern);
}
