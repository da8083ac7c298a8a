import { backendsOf, type Manifest, type ModelPricing, type Pricing } from "@gantry/wire";
import { type Micros, priceOf } from "../../kernel/money.ts";

/** The most that a prediction may use and be charged for. */
export interface Bounds {
  seconds: number;
  outputs: number;
  inputTokens: number;
  outputTokens: number;
}

/** Prices, fixed at acceptance. Stored with queued predictions. */
export interface Prices {
  pricing: Pricing;
  /** By the names of listed backends, also of those without prices of their own. */
  backends?: Readonly<Record<string, Pricing>>;
}

/** Prices and bounds, fixed at acceptance. Reservation and charge depend on nothing else. */
export interface Terms extends Prices {
  bounds: Bounds;
  /** What acceptance counts towards limits of tokens a minute, whatever tokens cost. 0 for models without tokens. */
  mostTokens?: number;
}

/** The reserved amount: everything that the bounds allow, with the dearest backend. */
export function reservationOf({ pricing, backends, bounds }: Terms): Micros {
  if (!backends) return mostAt(pricing, bounds);
  return Math.max(...Object.values(backends).map((one) => mostAt(one, bounds)));
}

/** At the highest price that input tokens can have. */
function mostAt(pricing: Pricing, bounds: Bounds): Micros {
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

/** Adds the default price of cache writes if the manifest omits it. */
function complete(pricing: Pricing, type: string): Pricing {
  const { per_million_input_tokens: input, per_million_cache_write_tokens: written } = pricing;
  if (type !== "anthropic" || !input || written !== undefined) return pricing;
  const known = completed.get(pricing);
  if (known) return known;
  const full = { ...pricing, per_million_cache_write_tokens: input * anthropicCacheWrite };
  completed.set(pricing, full);
  return full;
}

type PricedManifest = Pick<Manifest, "pricing" | "backend" | "backends">;

export function pricesOf(manifest: PricedManifest): Prices {
  const { pricing, backends } = manifest;
  if (!backends) return { pricing: complete(pricing, backendsOf(manifest)[0].type) };
  const byName = backends.map(({ name, type, pricing: own = pricing }) => [name, complete(own, type)] as const);
  return { pricing, backends: Object.fromEntries(byName) };
}

/** The prices of calls that the backend answers. A backend that was added after acceptance has the model's prices. */
export function pricingWith({ pricing, backends }: Prices, backend: string): Pricing {
  return (backends && Object.hasOwn(backends, backend) && backends[backend]) || pricing;
}

/** The prices of all backends that may answer. */
export function allPricings({ pricing, backends }: Prices): readonly Pricing[] {
  return backends ? Object.values(backends) : [pricing];
}

/** Each price of the dearest backend, for callers who do not see the backends. */
export function highestPricing(manifest: PricedManifest): ModelPricing {
  const { pricing, backends } = manifest;
  if (!backends) return pricing;
  const { batch_factor: factor, ...usual } = pricing;
  const highest: Pricing = {};
  for (const { pricing: own = usual } of backends) {
    for (const [name, price] of Object.entries(own) as [keyof Pricing, number][]) {
      highest[name] = Math.max(highest[name] ?? 0, price);
    }
  }
  return { ...highest, ...(factor !== undefined && { batch_factor: factor }) };
}

/** The terms of a prediction in a batch. Prices are multiplied exactly, so that only the whole charge is rounded. */
export function termsInBatch(terms: Terms, factor = 1): Terms {
  if (factor === 1) return terms;
  const { pricing, backends } = terms;
  const inBatch = (one: Pricing) => multiplied(one, factor);
  return {
    ...terms,
    pricing: inBatch(pricing),
    ...(backends && {
      backends: Object.fromEntries(Object.entries(backends).map(([name, one]) => [name, inBatch(one)])),
    }),
  };
}

function multiplied(pricing: ModelPricing, factor: number): Pricing {
  const { batch_factor: _, ...prices } = pricing;
  return Object.fromEntries(Object.entries(prices).map(([name, price]) => [name, exactProduct(price, factor)]));
}

/** Prices have six decimals and factors four, so both are whole numbers here. */
function exactProduct(price: number, factor: number): number {
  return (Math.round(price * 1e6) * Math.round(factor * 1e4)) / 1e10;
}
