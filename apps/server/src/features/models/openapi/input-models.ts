import { type FieldSchema, fileFieldOf, type Manifest, type ObjectSchema } from "@gantry/wire";
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
      "A JSON object with url, headers and query_params, sent when the run ends. With an empty url, no webhook is sent.",
  }),
};

/** In JSON Schema, a nullable enum must list null. */
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

/** Input and output of the model, and the input of each route. */
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

/** Content types of the file parts, under the second form of their names. */
function fileEncodings(manifest: Manifest): Json {
  const encodings = Object.entries(manifest.input.properties).flatMap(([name, field]) => {
    const files = fileFieldOf(field);
    return files ? [[`i_${name}`, { contentType: contentTypeOf(files.file) }]] : [];
  });
  return Object.fromEntries(encodings);
}

export function inputBody(manifest: Manifest, schema: Json): Json {
  const encoding = fileEncodings(manifest);
  return {
    required: true,
    content: { "multipart/form-data": { schema, ...(Object.keys(encoding).length > 0 && { encoding }) } },
  };
}
