import type { FieldSchema, Manifest, ObjectSchema } from "@gantry/wire";
import { type Json, nullable, schemaRef } from "./parts.ts";

const webhookDefault = JSON.stringify({ url: "", headers: {}, query_params: {} });

const user: Json = {
  user: {
    ...schemaRef("StreamUser"),
    description: "JSON in a text part: your own reference, and whether the run goes ahead of the others.",
  },
};

const webhook: Json = {
  webhook: nullable("string", {
    title: "Webhook",
    default: webhookDefault,
    description:
      "A JSON object with url, headers and query_params, sent when the run ends. An empty url is no webhook.",
  }),
};

/** Null may always stand where a field's type has it; in JSON Schema only if the list of values has it too. */
function withNull(field: FieldSchema): FieldSchema {
  if (!field.enum || field.enum.includes(null) || ![field.type].flat().includes("null")) return field;
  return { ...field, enum: [...field.enum, null] };
}

function describedFields({ properties }: ObjectSchema): Record<string, FieldSchema> {
  return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, withNull(field)]));
}

function described(schema: ObjectSchema, title: string): Json {
  return { ...schema, properties: describedFields(schema), title };
}

function withParts({ input }: Manifest, title: string, parts: Json): Json {
  const { required } = input;
  const properties = describedFields(input);
  return { title, type: "object", properties: { ...properties, ...parts }, ...(required && { required }) };
}

/** The input and output of this model, and the input as each route takes it. */
export function dynamicModels(manifest: Manifest): Json {
  return {
    DynamicInputModel: described(manifest.input, "DynamicInputModel"),
    DynamicOutputModel: described(manifest.output, "DynamicOutputModel"),
    DynamicStreamInputModel: withParts(manifest, "DynamicStreamInputModel", user),
    DynamicAsyncInputModel: withParts(manifest, "DynamicAsyncInputModel", { ...webhook, ...user }),
  };
}

function contentTypeOf(field: FieldSchema): string {
  const media = field["x-media"];
  return media === undefined || media === "file" ? "*/*" : `${media}/*`;
}

/** The content types of the file parts, keyed by the second spelling of their names. */
function fileEncodings(manifest: Manifest): Json {
  const files = Object.entries(manifest.input.properties).filter(([, field]) => field.format === "binary");
  return Object.fromEntries(files.map(([name, field]) => [`i_${name}`, { contentType: contentTypeOf(field) }]));
}

export function inputBody(manifest: Manifest, schema: Json): Json {
  const encoding = fileEncodings(manifest);
  return {
    required: true,
    content: { "multipart/form-data": { schema, ...(Object.keys(encoding).length > 0 && { encoding }) } },
  };
}
