import { isObject } from "./text-answer.ts";

/** What Gemini's own schema knows of JSON Schema; anything else makes it refuse the whole call. */
const kept = new Set(
  (
    "title description nullable default example minItems maxItems minProperties maxProperties minLength maxLength " +
    "pattern minimum maximum"
  ).split(" "),
);
const formats: Record<string, readonly string[]> = {
  string: ["enum", "date-time"],
  integer: ["int32", "int64"],
  number: ["float", "double"],
};
const deepest = 16;
const mostParts = 2000;

interface Whole {
  root: unknown;
  /** Parts that may still be written: a schema that refers to itself twice would grow without end. */
  left: number;
}

/** A JSON Schema in Gemini's subset. Local references are written out; what it cannot say is left out. */
export function toGoogleSchema(schema: unknown): Record<string, unknown> {
  return convert(schema, { root: schema, left: mostParts }, 0);
}

function convert(given: unknown, whole: Whole, depth: number): Record<string, unknown> {
  const schema = resolved(given, whole.root);
  // A schema that refers to itself ends here as a free value.
  if (!isObject(schema) || depth > deepest || whole.left-- <= 0) return { type: "string" };
  const written: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) if (kept.has(name)) written[name] = value;
  const next = (part: unknown) => convert(part, whole, depth + 1);
  const { type, nullable } = typeOf(schema);
  if (type !== undefined) written.type = type;
  if (nullable) written.nullable = true;
  if (typeof schema.format === "string" && formats[type ?? ""]?.includes(schema.format)) written.format = schema.format;
  const choices = schema.const === undefined ? schema.enum : [schema.const];
  // It knows enumerations of texts only.
  if (Array.isArray(choices) && choices.every((choice) => typeof choice === "string")) {
    written.enum = choices;
    written.type = "string";
  }
  if (type === "array") written.items = next(schema.items ?? {});
  if (isObject(schema.properties) && Object.keys(schema.properties).length > 0) {
    const { properties } = schema;
    written.type = "object";
    written.properties = Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, next(part)]));
    if (Array.isArray(schema.required)) {
      const required = schema.required.filter((name) => Object.hasOwn(properties, String(name)));
      if (required.length > 0) written.required = required;
    }
  }
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives)) addAlternatives(written, alternatives, next);
  return written;
}

function addAlternatives(
  written: Record<string, unknown>,
  alternatives: readonly unknown[],
  next: (part: unknown) => Record<string, unknown>,
): void {
  const real = alternatives.filter((part) => !(isObject(part) && part.type === "null"));
  if (real.length < alternatives.length) written.nullable = true;
  if (real.length === 1) Object.assign(written, next(real[0]));
  else if (real.length > 1) written.anyOf = real.map(next);
}

function typeOf(schema: Record<string, unknown>): { type: string | undefined; nullable: boolean } {
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter((type) => typeof type === "string");
  const type = types.find((one) => one !== "null");
  return { type, nullable: type !== undefined && types.includes("null") };
}

function resolved(given: unknown, root: unknown): unknown {
  let schema = given;
  // References to references, but not in a circle.
  for (let hops = 0; hops < 8; hops++) {
    if (!isObject(schema) || typeof schema.$ref !== "string" || !schema.$ref.startsWith("#/")) return schema;
    schema = at(root, schema.$ref.slice(2).split("/"));
  }
  return undefined;
}

function at(root: unknown, steps: readonly string[]): unknown {
  let target = root;
  for (const step of steps) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    target = isObject(target) && Object.hasOwn(target, name) ? target[name] : undefined;
  }
  return target;
}
