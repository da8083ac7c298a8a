import type { FieldSchema, Manifest } from "@gantry/wire";
import type { OfferedTool } from "./offered-tool.ts";

/** What a client's model can make use of; extensions and marks of our own are left out. */
const keywords = [
  "type",
  "title",
  "description",
  "default",
  "enum",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "items",
  "properties",
  "required",
  "additionalProperties",
  "format",
] as const;

const mediaNames = { image: "An image", video: "A video", audio: "A sound", file: "A file" } as const;
const addressNote =
  "given as an http or https URL, as a data: URI, or as the s3:// address of a file that you uploaded or that a model made for you.";

/** A manifest's input as the arguments of a tool. */
export function inputSchemaOf({ input }: Manifest): OfferedTool["inputSchema"] {
  const required = input.required ?? [];
  const properties = Object.entries(input.properties).map(([name, field]) => [
    name,
    field.format === "binary" ? addressSchema(field) : valueSchema(field, required.includes(name)),
  ]);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required: [...required] }),
    additionalProperties: false,
  };
}

function addressSchema(field: FieldSchema): Record<string, unknown> {
  const formats = field["x-formats"]?.length ? ` (${field["x-formats"].join(", ")})` : "";
  const note = `${mediaNames[field["x-media"] ?? "file"]}${formats}, ${addressNote}`;
  return {
    type: "string",
    ...(field.title !== undefined && { title: field.title }),
    description: field.description ? `${field.description} ${note}` : note,
  };
}

/**
 * A field that may be left out is left out instead of being null, which means the same. Not every client understands a
 * list of types.
 */
function valueSchema(field: FieldSchema, isRequired: boolean): Record<string, unknown> {
  const schema: Record<string, unknown> = {};
  for (const keyword of keywords) if (field[keyword] !== undefined) schema[keyword] = field[keyword];
  if (isRequired || !Array.isArray(field.type)) return schema;
  const types = field.type.filter((type) => type !== "null");
  schema.type = types.length === 1 ? types[0] : types;
  if (schema.default === null) delete schema.default;
  if (field.enum) schema.enum = field.enum.filter((value) => value !== null);
  return schema;
}
