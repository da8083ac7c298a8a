import { type FieldSchema, fileFieldOf, type ObjectSchema } from "@gantry/wire";
import { isRecord } from "../../../kernel/is-record.ts";
import type { Net } from "../../net/net.ts";
import type { Mask } from "../mask.ts";
import { broken, joinUrl, requestJson } from "../upstream.ts";

type Schema = Readonly<Record<string, unknown>>;
type Schemas = Readonly<Record<string, unknown>>;
type Media = NonNullable<FieldSchema["x-media"]>;

/** Keywords that manifests have under the same name. */
const shared = ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "enum", "deprecated"] as const;
const mediaWords: readonly (readonly [Media, RegExp])[] = [
  ["image", /image|img|photo|picture|mask|portrait/i],
  ["video", /video|movie|clip/i],
  ["audio", /audio|sound|voice|speech|music|song/i],
];
const types = new Set(["string", "number", "integer", "boolean", "array", "object"]);

/**
 * Makes a manifest's schemas from the OpenAPI document of a Cog server. A file (`cog.Path`) becomes a file field, a list
 * of files a list, an iterator of text a streamed field.
 */
export function importCogSchema(openapi: unknown): { input: ObjectSchema; output: ObjectSchema } {
  const components = isRecord(openapi) && isRecord(openapi.components) ? openapi.components.schemas : undefined;
  const schemas: Schemas = isRecord(components) ? components : {};
  if (!isRecord(schemas.Input)) {
    const cause = new Error("The upstream's document has no schema Input");
    throw broken(cause, "The document does not describe a Cog model.");
  }
  return { input: inputOf(schemas.Input, schemas), output: outputOf(schemas.Output, schemas) };
}

export async function fetchCogSchema(
  net: Net,
  url: string,
  options: { key?: string | undefined; mask?: Mask; signal?: AbortSignal } = {},
): Promise<{ input: ObjectSchema; output: ObjectSchema }> {
  const { json } = await requestJson(net, {
    url: joinUrl(url, "openapi.json"),
    method: "GET",
    headers: { accept: "application/json", ...(options.key && { authorization: `Bearer ${options.key}` }) },
    mask: options.mask,
    signal: options.signal ?? AbortSignal.timeout(30_000),
    bounds: { totalMs: 30_000, maxBytes: 4 * 1024 * 1024 },
  });
  return importCogSchema(json);
}

function inputOf(input: Schema, schemas: Schemas): ObjectSchema {
  const required = namesIn(input.required);
  const properties = isRecord(input.properties) ? input.properties : {};
  const ordered = Object.entries(properties).sort(([, a], [, b]) => orderOf(a) - orderOf(b));
  return {
    type: "object",
    properties: Object.fromEntries(
      ordered.map(([name, field]) => [name, inputField(name, resolved(field, schemas), required.includes(name))]),
    ),
    ...(required.length > 0 && { required }),
  };
}

function inputField(name: string, field: Schema, required: boolean): FieldSchema {
  const result = fieldOf(name, field);
  // Null means left out, so an optional field is nullable.
  const nullable = (field.nullable === true || !required) && typeof result.type === "string";
  if (fileFieldOf(result))
    return { ...result, ...(nullable && { type: [String(result.type), "null"], default: null }) };
  return {
    ...result,
    ...(nullable && { type: [String(result.type), "null"] }),
    ...(field.default !== undefined && (field.default !== null || nullable) && { default: field.default }),
    ...(field["x-cog-secret"] === true && { "x-cog-secret": true }),
  };
}

function outputOf(given: unknown, schemas: Schemas): ObjectSchema {
  const output = resolved(given, schemas);
  if (output.type === "object" && isRecord(output.properties) && Object.keys(output.properties).length > 0) {
    const names = Object.keys(output.properties);
    const properties = output.properties;
    const required = namesIn(output.required).filter((name) => names.includes(name));
    return {
      type: "object",
      properties: Object.fromEntries(
        names.map((name) => [name, outputField(name, resolved(properties[name], schemas), required.includes(name))]),
      ),
      ...(required.length > 0 && { required }),
    };
  }
  const nullable = output.nullable === true;
  const properties = { output: outputField("output", output, !nullable) };
  return { type: "object", properties, ...(!nullable && { required: ["output"] }) };
}

function outputField(name: string, field: Schema, required: boolean): FieldSchema {
  const items = isRecord(field.items) ? field.items : {};
  if (field.type === "array" && items.type === "string" && field["x-cog-array-display"] === "concatenate") {
    return {
      ...annotationsOf(field),
      type: "string",
      ...(field["x-cog-array-type"] === "iterator" && { isStream: true }),
    };
  }
  // `Any`: without a type, the output is taken as it is.
  if (field.type === undefined) return annotationsOf(field);
  const result = fieldOf(name, field);
  return required ? result : { ...result, type: [String(result.type), "null"] };
}

function fieldOf(name: string, field: Schema): FieldSchema {
  if (isFile(field))
    return { ...annotationsOf(field), type: "string", format: "binary", "x-media": mediaOf(name, field) };
  const type = typeof field.type === "string" && types.has(field.type) ? field.type : "object";
  const result: FieldSchema = { ...annotationsOf(field), type };
  Object.assign(
    result,
    Object.fromEntries(shared.filter((name) => field[name] !== undefined).map((name) => [name, field[name]])),
  );
  if (type === "array" && isRecord(field.items)) {
    const { items } = field;
    if (isFile(items)) {
      const accepted = field["x-cog-accept"] ?? items["x-cog-accept"];
      const described = { description: field.description, ...items, "x-cog-accept": accepted };
      result.items = { type: "string", format: "binary", "x-media": mediaOf(name, described) };
      return result;
    }
    result.items = {
      ...(typeof items.type === "string" && types.has(items.type) && { type: items.type }),
      ...(Array.isArray(items.enum) && { enum: items.enum }),
    };
  }
  return result;
}

/** Python's own text of an enum without one. */
const descriptionOfEnums = "An enumeration.";

function annotationsOf(field: Schema): FieldSchema {
  return {
    ...(typeof field.title === "string" && { title: field.title.slice(0, 200) }),
    ...(typeof field.description === "string" &&
      field.description !== descriptionOfEnums && { description: field.description.slice(0, 4000) }),
    ...(typeof field["x-order"] === "number" && { "x-order": field["x-order"] }),
  };
}

function isFile(field: Schema): boolean {
  return field.type === "string" && field.format === "uri";
}

/** Guesses from the accepted types, the name and the description. A field that fits two kinds is a plain file. */
function mediaOf(name: string, field: Schema): Media {
  for (const text of [field["x-cog-accept"], name, field.description]) {
    const found = mediaWords.filter(([, words]) => typeof text === "string" && words.test(text));
    if (found.length > 0) return found.length === 1 && found[0] ? found[0][0] : "file";
  }
  return "file";
}

/** Resolves references, the `allOf` around an enum and the `anyOf` around null. */
function resolved(given: unknown, schemas: Schemas, depth = 0): Schema {
  if (!isRecord(given) || depth > 8) return {};
  const { $ref, allOf, anyOf, ...own } = given;
  let whole: Record<string, unknown> = {};
  if (typeof $ref === "string") {
    const name = $ref.replace(/^#\/components\/schemas\//, "");
    whole = { ...resolved(Object.hasOwn(schemas, name) ? schemas[name] : undefined, schemas, depth + 1) };
  }
  for (const part of Array.isArray(allOf) ? allOf : []) whole = { ...whole, ...resolved(part, schemas, depth + 1) };
  if (Array.isArray(anyOf)) {
    const choices = anyOf.map((part) => resolved(part, schemas, depth + 1));
    const nullable = choices.some((part) => part.type === "null") || choices.some((part) => part.nullable === true);
    whole = { ...whole, ...choices.find((part) => part.type !== "null"), ...(nullable && { nullable }) };
  }
  const merged: Record<string, unknown> = { ...whole, ...own };
  if (merged.items !== undefined) merged.items = resolved(merged.items, schemas, depth + 1);
  return merged;
}

function orderOf(field: unknown): number {
  return isRecord(field) && typeof field["x-order"] === "number" ? field["x-order"] : Number.MAX_SAFE_INTEGER;
}

function namesIn(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((name) => typeof name === "string") : [];
}
