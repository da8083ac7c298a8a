import { backendsOf, type Manifest, type Pricing } from "@gantry/wire";
import { type Micros, priceOf } from "../../kernel/money.ts";

/** The most that a prediction may use and be charged for. */
export interface Bounds {
  seconds: number;
  outputs: number;
  inputTokens: number;
  outputTokens: number;
}

/** Prices and bounds, fixed at acceptance. Reservation and charge depend on nothing else. */
export interface Terms {
  pricing: Pricing;
  bounds: Bounds;
}

/** The reserved amount: everything that the bounds allow, at the highest price that input tokens can have. */
export function reservationOf({ pricing, bounds }: Terms): Micros {
  const { per_million_input_tokens: fresh = 0 } = pricing;
  const { per_million_cached_tokens: cached = fresh, per_million_cache_write_tokens: written = fresh } = pricing;
  const dearest = Math.max(fresh, cached, written);
  return priceOf(pricing, {
    ...bounds,
    requests: 1,
    cachedTokens: cached === dearest ? bounds.inputTokens : 0,
    cacheWriteTokens: cached < dearest && written === dearest ? bounds.inputTokens : 0,
  });
}

/** Anthropic's price of a token written to its cache for five minutes, relative to an input token. */
const anthropicCacheWrite = 1.25;

const completed = new WeakMap<Pricing, Pricing>();

/** The prices of a model. Adds the default price of cache writes if the manifest omits it. */
export function pricingOf(manifest: Pick<Manifest, "pricing" | "backend" | "backends">): Pricing {
  const { pricing } = manifest;
  const { per_million_input_tokens: input, per_million_cache_write_tokens: written } = pricing;
  if (backendsOf(manifest)[0].type !== "anthropic" || !input || written !== undefined) return pricing;
  const known = completed.get(pricing);
  if (known) return known;
  const full = { ...pricing, per_million_cache_write_tokens: input * anthropicCacheWrite };
  completed.set(pricing, full);
  return full;
}
