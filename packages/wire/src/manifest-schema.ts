import { z } from "zod";
import { backendSchema } from "./backend-schema.ts";
import { backendListSchema, checkBackends, givenBackends, withNames } from "./backends.ts";
import { checkPrompt } from "./check-prompt.ts";
import { checkEmbedding } from "./embedding-fields.ts";
import { oneOf, tell } from "./field-schema.ts";
import { isRecord } from "./field-value.ts";
import type { Manifest } from "./manifest.ts";
import { inputSchema, outputSchema } from "./object-schema.ts";
import { modelPricingSchema } from "./pricing-schema.ts";
import { checkWorkflow } from "./workflow.ts";

function hasStreamedField(output: unknown): boolean {
  if (!isRecord(output) || !isRecord(output.properties)) return false;
  return Object.values(output.properties).some((field) => isRecord(field) && field.isStream === true);
}

/** The prices of the model and of its backends. */
function pricesIn({
  pricing,
  backends,
}: Readonly<Record<string, unknown>>): { pricing: unknown; path: PropertyKey[] }[] {
  const listed = Array.isArray(backends) ? backends : [];
  const own = listed.map((one, at) => ({
    pricing: isRecord(one) ? one.pricing : undefined,
    path: ["backends", at, "pricing"],
  }));
  return [{ pricing, path: ["pricing"] }, ...own];
}

/** Above this, sums would no longer be exact. */
const maxRunDollars = 1_000_000_000;

export const modelKinds = ["image", "video", "text", "embedding", "other"] as const;

/** Defaults of omitted fields. */
export const manifestDefaults = {
  description: "",
  visibility: "private",
  capacity: 1,
  timeout_seconds: 300,
  max_queue_seconds: 86_400,
  pricing: {},
} satisfies Partial<Manifest>;

/** Each field on its own; cross-checks follow below. */
export const manifestFields = {
  $schema: z.string().max(2048).optional().describe("The schema for editors. Not stored."),
  title: z.string().min(1).max(200).describe("Default: the model's name."),
  description: z.string().max(10_000).default(manifestDefaults.description),
  kind: oneOf(modelKinds),
  visibility: oneOf(["public", "private"])
    .default(manifestDefaults.visibility)
    .describe("Whether other users may call it."),
  capacity: z
    .int()
    .min(0)
    .max(100_000)
    .default(manifestDefaults.capacity)
    .describe("Predictions that run at once over all nodes; 0: not active."),
  timeout_seconds: z
    .number()
    .min(1)
    .max(86_400)
    .default(manifestDefaults.timeout_seconds)
    .describe("Time limit of a prediction."),
  max_queue_seconds: z
    .number()
    .min(1)
    .max(604_800)
    .default(manifestDefaults.max_queue_seconds)
    .describe("Time limit in the queue."),
  context_window: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe("Tokens at which an agent's conversation is compressed. Text models only."),
  max_output_tokens: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe("Tokens of an answer to a chat client that sets no limit. Default: 8192. Text models only."),
  model_size_in_billions: z.number().gt(0).max(1_000_000).optional().describe("Parameters. Text models only."),
  keep_inputs: z.boolean().optional().describe("False: inputs of its predictions are not kept with their results."),
  pricing: modelPricingSchema
    .default(manifestDefaults.pricing)
    .describe("Dollars, summed and rounded once. Omitted prices are 0."),
  input: inputSchema.describe("JSON Schema of the input; its properties are the fields of a request."),
  output: outputSchema.describe("JSON Schema of the output; its properties are the fields of an answer."),
  backend: backendSchema.optional().describe("Who answers."),
  backends: backendListSchema
    .optional()
    .describe("Several backends instead of one. If one fails before its first byte, another one answers."),
};

/** A whole manifest with defaults. Reports every fault with its path. */
export const manifestSchema: z.ZodType<Manifest> = z
  .strictObject(manifestFields)
  .superRefine(
    (manifest: unknown, ctx) => {
      if (!isRecord(manifest)) return;
      const { timeout_seconds: seconds = manifestDefaults.timeout_seconds } = manifest;
      for (const { pricing, path } of pricesIn(manifest)) {
        const perSecond = isRecord(pricing) ? pricing.per_second : undefined;
        if (typeof perSecond === "number" && typeof seconds === "number" && perSecond * seconds > maxRunDollars) {
          const message = `A run as long as timeout_seconds would cost more than ${maxRunDollars} dollars`;
          tell(ctx, [...path, "per_second"], message);
        }
      }
      checkBackends(manifest, ctx);
      checkPrompt(manifest, ctx);
      checkEmbedding(manifest, ctx);
      for (const { backend, path } of givenBackends(manifest)) checkWorkflow(manifest, backend, path, ctx);
      if (manifest.kind === "text") {
        if (isRecord(manifest.output) && !hasStreamedField(manifest.output)) {
          tell(ctx, ["output"], "A text model needs an output field with isStream: true");
        }
        return;
      }
      for (const name of ["context_window", "max_output_tokens", "model_size_in_billions"]) {
        if (manifest[name] !== undefined) tell(ctx, [name], "Only text models have this field");
      }
    },
    { when: () => true },
  )
  .transform(({ $schema: _forEditors, backends, ...manifest }) =>
    backends ? { ...manifest, backends: withNames(backends) } : manifest,
  ) as z.ZodType<Manifest>;
