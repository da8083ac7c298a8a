import type { Manifest, Pricing } from "@gantry/wire";
import { type Micros, priceOf } from "../../kernel/money.ts";

/** The most that a prediction may use. What it is charged for stays within. */
export interface Bounds {
  seconds: number;
  outputs: number;
  inputTokens: number;
  outputTokens: number;
}

/** Prices and bounds, fixed at acceptance: everything that a reservation and a charge depend on. */
export interface Terms {
  pricing: Pricing;
  bounds: Bounds;
}

/** The reserved amount: all that the bounds allow, at the dearest price that its input tokens can have. */
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

/** What Anthropic charges for a token that it writes to its cache for five minutes, by the price of a plain one. */
const anthropicCacheWrite = 1.25;

const completed = new WeakMap<Pricing, Pricing>();

/** The prices of a model, with the default price of cache writes where its manifest gives none. */
export function pricingOf({ pricing, backend }: Pick<Manifest, "pricing" | "backend">): Pricing {
  const { per_million_input_tokens: input, per_million_cache_write_tokens: written } = pricing;
  if (backend.type !== "anthropic" || !input || written !== undefined) return pricing;
  const known = completed.get(pricing);
  if (known) return known;
  const full = { ...pricing, per_million_cache_write_tokens: input * anthropicCacheWrite };
  completed.set(pricing, full);
  return full;
}
