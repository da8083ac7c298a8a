import type { FieldSchema, Manifest } from "@gantry/wire";
import { type Json, nullable, schemaRef } from "./json.ts";

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

function withParts(manifest: Manifest, title: string, parts: Json): Json {
  const { properties, required } = manifest.input;
  return { title, type: "object", properties: { ...properties, ...parts }, ...(required && { required }) };
}

/** The input and output of this model, and the input as each route takes it. */
export function dynamicModels(manifest: Manifest): Json {
  return {
    DynamicInputModel: { ...manifest.input, title: "DynamicInputModel" },
    DynamicOutputModel: { ...manifest.output, title: "DynamicOutputModel" },
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
