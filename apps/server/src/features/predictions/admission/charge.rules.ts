import type { Pricing } from "@gantry/wire";
import type { TokenUsage } from "../../../engines/models/driver.ts";
import { type Micros, priceOf } from "../../../kernel/money.ts";
import type { Bounds, Terms } from "../../billing/index.ts";

export interface Work {
  seconds: number;
  /** As `chargedUsage` leaves it. */
  usage: TokenUsage | undefined;
  /** Files, or one where the model makes none. */
  outputs: number;
}

export function isPricedByTokens(pricing: Pricing): boolean {
  return isInputPriced(pricing) || Boolean(pricing.per_million_output_tokens);
}

export function isInputPriced(pricing: Pricing): boolean {
  const { per_million_input_tokens, per_million_cached_tokens, per_million_cache_write_tokens } = pricing;
  return Boolean(per_million_input_tokens || per_million_cached_tokens || per_million_cache_write_tokens);
}

/** More than one answer has: many times the widest context that a model is known for. */
const mostReported = 10_000_000;

/** Whoever runs an upstream writes these numbers: what no answer can have is taken for not reported. */
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

/** The tokens that are charged and shown: those reported or counted, at most those reserved, input and output apart. */
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

/** A run that came to its end pays for everything. */
export function chargeWhenDone(terms: Terms, work: Work): Micros {
  return charge(terms, work, { requests: 1, outputs: work.outputs });
}

/** A cancelled run pays for the tokens made and the time used, never for the request or an output. */
export function chargeWhenCancelled(terms: Terms, work: Work): Micros {
  return charge(terms, work, { requests: 0, outputs: 0 });
}

function charge(
  { pricing, bounds }: Terms,
  { seconds, usage }: Work,
  { requests, outputs }: { requests: number; outputs: number },
): Micros {
  const used = chargedUsage(usage ?? { inputTokens: 0, outputTokens: 0 }, bounds);
  return priceOf(pricing, {
    requests,
    seconds: Math.min(seconds, bounds.seconds),
    outputs: Math.min(outputs, bounds.outputs),
    inputTokens: used.inputTokens,
    cachedTokens: used.cachedTokens ?? 0,
    cacheWriteTokens: used.cacheWriteTokens ?? 0,
    outputTokens: used.outputTokens,
  });
}
