import { z } from "zod";
import { backendSchema } from "./backend-schema.ts";
import { checkPrompt } from "./check-prompt.ts";
import { dollars } from "./dollars.ts";
import { oneOf, tell } from "./field-schema.ts";
import { isRecord } from "./field-value.ts";
import type { Manifest } from "./manifest.ts";
import { inputSchema, outputSchema } from "./object-schema.ts";

/**
 * A price per million tokens with six decimals is still a whole number of millionths a million tokens, so every sum is
 * exact until it is rounded.
 */
const price = dollars.optional();

export const pricingSchema = z.strictObject({
  per_request: price,
  per_second: price.describe("Of the time that it ran."),
  per_million_input_tokens: price,
  per_million_cached_tokens: price.describe("Of those of the input that the backend had in its cache."),
  per_million_cache_write_tokens: price.describe(
    "Of input tokens that the backend wrote to its cache. Default: the price of input tokens, times 1.25 for `anthropic`.",
  ),
  per_million_output_tokens: price,
  per_output: price.describe("Of what the answer holds, such as pictures."),
});

function hasStreamedField(output: unknown): boolean {
  if (!isRecord(output) || !isRecord(output.properties)) return false;
  return Object.values(output.properties).some((field) => isRecord(field) && field.isStream === true);
}

/** More than any run is worth; beyond it sums could no longer be counted exactly. */
const dearestRun = 1_000_000_000;

export const modelKinds = ["image", "video", "text", "other"] as const;

/** What a manifest has where it says nothing. */
export const manifestDefaults = {
  description: "",
  visibility: "private",
  capacity: 1,
  timeout_seconds: 300,
  max_queue_seconds: 86_400,
  pricing: {},
} satisfies Partial<Manifest>;

/** What each field of a manifest must be; how they go together is checked beside it. */
export const manifestFields = {
  $schema: z.string().max(2048).optional().describe("Where an editor finds the schema of a manifest. It is not kept."),
  title: z.string().min(1).max(200).describe("Left out: the model's name."),
  description: z.string().max(10_000).default(manifestDefaults.description),
  kind: oneOf(modelKinds),
  visibility: oneOf(["public", "private"]).default(manifestDefaults.visibility).describe("Whether others may call it."),
  capacity: z
    .int()
    .min(0)
    .max(100_000)
    .default(manifestDefaults.capacity)
    .describe("How many run at once over all nodes; 0: not active."),
  timeout_seconds: z
    .number()
    .min(1)
    .max(86_400)
    .default(manifestDefaults.timeout_seconds)
    .describe("How long one may run."),
  max_queue_seconds: z
    .number()
    .min(1)
    .max(604_800)
    .default(manifestDefaults.max_queue_seconds)
    .describe("How long one may wait."),
  context_window: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe("Tokens, where the conversation of an agent is compressed. Text models only."),
  model_size_in_billions: z.number().gt(0).max(1_000_000).optional().describe("Parameters. Text models only."),
  pricing: pricingSchema
    .default(manifestDefaults.pricing)
    .describe("Dollars, summed and rounded once; what is left out costs nothing."),
  input: inputSchema.describe("What the model takes: a JSON Schema whose properties are the fields of a request."),
  output: outputSchema.describe("What the model gives: a JSON Schema whose properties are the fields of an answer."),
  backend: backendSchema.describe("Who answers."),
};

/** A whole manifest, with the defaults of what was left out. Reports every fault, each under its path. */
export const manifestSchema: z.ZodType<Manifest> = z
  .strictObject(manifestFields)
  .superRefine(
    (manifest: unknown, ctx) => {
      if (!isRecord(manifest)) return;
      const { pricing, timeout_seconds: seconds = manifestDefaults.timeout_seconds } = manifest;
      const perSecond = isRecord(pricing) ? pricing.per_second : undefined;
      if (typeof perSecond === "number" && typeof seconds === "number" && perSecond * seconds > dearestRun) {
        tell(
          ctx,
          ["pricing", "per_second"],
          `A run as long as timeout_seconds would cost more than ${dearestRun} dollars`,
        );
      }
      checkPrompt(manifest, ctx);
      if (manifest.kind === "text") {
        if (isRecord(manifest.output) && !hasStreamedField(manifest.output)) {
          tell(ctx, ["output"], "A text model needs an output field with isStream true");
        }
        return;
      }
      for (const name of ["context_window", "model_size_in_billions"]) {
        if (manifest[name] !== undefined) tell(ctx, [name], "Belongs to text models");
      }
    },
    { when: () => true },
  )
  .transform(({ $schema: _forEditors, ...manifest }) => manifest) as z.ZodType<Manifest>;
