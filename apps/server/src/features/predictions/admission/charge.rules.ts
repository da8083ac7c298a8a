import type { Pricing } from "@gantry/wire";
import type { TokenUsage } from "../../../engines/models/driver.ts";
import { type Micros, priceOf } from "../../../kernel/money.ts";
import { type Bounds, pricingWith, type Terms } from "../../billing/index.ts";

export interface Work {
  /** The name of the backend that answered. */
  backend: string;
  seconds: number;
  /** Limited by `chargedUsage`. */
  usage: TokenUsage | undefined;
  /** The number of files, or 1 for a model without files. */
  outputs: number;
}

export function isPricedByTokens(pricing: Pricing): boolean {
  return isInputPriced(pricing) || Boolean(pricing.per_million_output_tokens);
}

export function isInputPriced(pricing: Pricing): boolean {
  const { per_million_input_tokens, per_million_cached_tokens, per_million_cache_write_tokens } = pricing;
  return Boolean(per_million_input_tokens || per_million_cached_tokens || per_million_cache_write_tokens);
}

/** Many times the widest known context window. */
const mostReported = 10_000_000;

/** Upstreams report these numbers. Impossible ones count as not reported. */
export function isBelievable(usage: TokenUsage): boolean {
  return countsOf(usage).every((count) => count <= mostReported);
}

export function isCountable(usage: TokenUsage): boolean {
  return countsOf(usage).every((count) => Number.isInteger(count) && count >= 0);
}

function countsOf({ inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens = 0 }: TokenUsage): number[] {
  return [inputTokens, outputTokens, cachedTokens, cacheWriteTokens];
}

export function isWithin(usage: TokenUsage, { inputTokens, outputTokens }: Bounds): boolean {
  return usage.inputTokens <= inputTokens && usage.outputTokens <= outputTokens;
}

/** The tokens that are charged and shown: at most the reserved ones, for input and output separately. */
export function chargedUsage(usage: TokenUsage, bounds: Bounds): TokenUsage {
  const inputTokens = Math.min(usage.inputTokens, bounds.inputTokens);
  const cachedTokens = Math.min(usage.cachedTokens ?? 0, inputTokens);
  const cacheWriteTokens = Math.min(usage.cacheWriteTokens ?? 0, inputTokens - cachedTokens);
  return {
    ...usage,
    inputTokens,
    outputTokens: Math.min(usage.outputTokens, bounds.outputTokens),
    ...(usage.cachedTokens !== undefined && { cachedTokens }),
    ...(usage.cacheWriteTokens !== undefined && { cacheWriteTokens }),
  };
}

export function chargeWhenDone(terms: Terms, work: Work): Micros {
  return charge(terms, work, { requests: 1, outputs: work.outputs });
}

/** Cancelled predictions are charged for tokens and time, not for the request or outputs. */
export function chargeWhenCancelled(terms: Terms, work: Work): Micros {
  return charge(terms, work, { requests: 0, outputs: 0 });
}

function charge(
  terms: Terms,
  { backend, seconds, usage }: Work,
  { requests, outputs }: { requests: number; outputs: number },
): Micros {
  const { bounds } = terms;
  const used = chargedUsage(usage ?? { inputTokens: 0, outputTokens: 0 }, bounds);
  return priceOf(pricingWith(terms, backend), {
    requests,
    seconds: Math.min(seconds, bounds.seconds),
    outputs: Math.min(outputs, bounds.outputs),
    inputTokens: used.inputTokens,
    cachedTokens: used.cachedTokens ?? 0,
    cacheWriteTokens: used.cacheWriteTokens ?? 0,
    outputTokens: used.outputTokens,
  });
}
