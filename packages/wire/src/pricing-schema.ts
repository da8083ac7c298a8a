import { z } from "zod";
import { dollars } from "./dollars.ts";

/**
 * With six decimals, the price of a million tokens is a whole number of millionths of a dollar, so sums are exact until
 * they are rounded.
 */
const price = dollars.optional();

export const pricingSchema = z.strictObject({
  per_request: price,
  per_second: price.describe("Per second of run time."),
  per_million_input_tokens: price,
  per_million_cached_tokens: price.describe("Input tokens that the backend read from its cache."),
  per_million_cache_write_tokens: price.describe(
    "Input tokens that the backend wrote to its cache. Default: the price of input tokens, times 1.25 for `anthropic`.",
  ),
  per_million_output_tokens: price,
  per_output: price.describe("Per output, such as an image."),
});

/** Backends have no factor of their own. */
export const modelPricingSchema = pricingSchema.extend({
  batch_factor: z
    .number()
    .min(0)
    .max(1)
    .refine((factor) => Math.round(factor * 1e4) / 1e4 === factor, "At most four decimals")
    .optional()
    .describe("Multiplies all prices of predictions in batches, such as 0.5. Default: 1."),
});
