import { z } from "zod";
import type { Api, Json } from "./operation.ts";
import { isPortable } from "./portable-pattern.rules.ts";

type Direction = "input" | "output";

export interface Components {
  schemas: Record<string, Json>;
  /** The name of what is sent or answered. Each has one: a client made from the document would else have to invent it. */
  nameOf(schema: z.ZodType): string;
}

export const schemaRef = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** The named schemas of an API. What one holds of another is a reference. */
export function componentsOf({ requests, answers }: Pick<Api, "requests" | "answers">): Components {
  const [sent, answered] = [registryOf(requests), registryOf(answers)];
  return {
    // What is sent and answered alike is told as it is answered: open to fields that come later.
    schemas: withDiscriminators({ ...describeAll(sent, "input"), ...describeAll(answered, "output") }),
    nameOf(schema) {
      const id = sent.get(schema)?.id ?? answered.get(schema)?.id;
      if (id === undefined) throw new Error("A schema of the API has no name");
      return id;
    },
  };
}

/** Of a schema that has no name: a parameter. Told as it is read, not as the text that it is sent as. */
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

/** Of a choice among records that each tell their type a client then reads the right one, and need not try them all. */
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
 * Takes away what says nothing to a reader: that a number is one, that a name is text, how a date is spelled; and what a
 * reader in another language may not be able to read: a pattern that is more than plain.
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

/** Of a text that must match several, each stands in a part of its own. */
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
    // What only code can check is left out of the document, not guessed.
    unrepresentable: "any",
    override: (described) => {
      tidy(described);
      const { jsonSchema } = described;
      if (io === "input") return;
      // An answer may have more in a later version, or be spelled by another rule, and a client must take it.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (jsonSchema.type === "string") keepPatterns(jsonSchema, () => false);
    },
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _dialect, $id: _address, ...schema }]) => [name, schema]),
  );
}
