import type { Manifest, Pricing } from "@gantry/wire";
import { type Micros, mostTokens, priceOf, usualAnswerTokens } from "../../kernel/money.ts";

/**
 * What a run is expected to cost at most, reserved at acceptance: one request, the whole time limit, the counted input
 * and all output tokens that it may make, but one output: how many it makes is known, and charged, at its end.
 */
export function reservationOf(
  manifest: Manifest,
  input: { countedTokens: number; maxTokens: number | undefined },
): Micros {
  const { pricing } = manifest;
  return priceOf(pricing, {
    requests: 1,
    seconds: pricing.per_second ? manifest.timeout_seconds : 0,
    outputs: 1,
    inputTokens: input.countedTokens,
    cachedTokens: dearestCached(pricing, input.countedTokens),
    outputTokens: reservedTokens(input.maxTokens),
  });
}

/** How many of the input tokens are to be taken for cached ones where it is not known: all, where that costs more. */
export function dearestCached(pricing: Pricing, inputTokens: number): number {
  return (pricing.per_million_cached_tokens ?? 0) > (pricing.per_million_input_tokens ?? 0) ? inputTokens : 0;
}

/**
 * The manifest may leave the field without bounds. Below one it bounds nothing: an upstream takes it for not given, and what
 * reserved nothing for its answer would be held back by no want of funds.
 */
function reservedTokens(maxTokens: number | undefined): number {
  const isGiven = maxTokens !== undefined && maxTokens >= 1;
  return Math.ceil(Math.min(isGiven ? maxTokens : usualAnswerTokens, mostTokens));
}
