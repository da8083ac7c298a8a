import type { z } from "zod";
import type { BackendType } from "./backend-schema.ts";
import { givenBackends } from "./backends.ts";
import { tell } from "./field-schema.ts";
import { isRecord, typesOf } from "./field-value.ts";
import type { ObjectSchema } from "./manifest.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Texts of one request, as in OpenAI's API. */
export const mostEmbeddingInputs = 2048;

const input: ObjectSchema = {
  type: "object",
  required: ["input"],
  properties: {
    input: {
      type: "array",
      title: "Texts",
      description: "A JSON list of texts. The result has one vector for each.",
      items: { type: "string", minLength: 1 },
      minItems: 1,
      maxItems: mostEmbeddingInputs,
    },
    dimensions: {
      type: ["integer", "null"],
      title: "Dimensions",
      description: "The length of the vectors, if the model lets you choose it.",
      minimum: 1,
    },
  },
};

const output: ObjectSchema = {
  type: "object",
  required: ["embeddings"],
  properties: {
    embeddings: { type: "array", title: "Vectors", items: { type: "array", items: { type: "number" } } },
  },
};

/** A manifest of kind `embedding` may leave out `input` and `output`. Other manifests are returned unchanged. */
export function withEmbeddingFields<Given extends Fields>(manifest: Given): Given {
  return manifest.kind === "embedding" ? { input, output, ...manifest } : manifest;
}

/** Protocols that return vectors. */
const embeddingBackends: ReadonlySet<unknown> = new Set<BackendType>(["openai-embeddings", "cog", "gantry"]);

/** The embeddings route of the OpenAI API sends `input` and reads `embeddings`. */
export function checkEmbedding(manifest: Fields, ctx: z.RefinementCtx<unknown>): void {
  const given = givenBackends(manifest);
  if (manifest.kind !== "embedding") {
    const isEmbedding = given.some(({ backend }) => backend.type === "openai-embeddings");
    if (isEmbedding) tell(ctx, ["kind"], "A model with this backend needs kind: embedding");
    return;
  }
  for (const { backend, path } of given) {
    if (typeof backend.type !== "string" || embeddingBackends.has(backend.type)) continue;
    const known = [...embeddingBackends].join(", ");
    tell(ctx, [...path, "type"], `A model of kind embedding needs one of these backends: ${known}`);
  }
  if (isRecord(manifest.input) && !isRequiredList(manifest.input, "input")) {
    tell(ctx, ["input", "properties", "input"], "A model of kind embedding needs a required list named input");
  }
  if (isRecord(manifest.output) && !isRequiredList(manifest.output, "embeddings")) {
    const message = "A model of kind embedding needs a required list named embeddings";
    tell(ctx, ["output", "properties", "embeddings"], message);
  }
}

function isRequiredList({ properties, required }: Fields, name: string): boolean {
  const field = isRecord(properties) ? properties[name] : undefined;
  if (!isRecord(field) || !Array.isArray(required) || !required.includes(name)) return false;
  const types = typesOf(field);
  return types.length === 1 && types[0] === "array";
}
