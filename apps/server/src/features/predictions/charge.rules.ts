import type { Pricing } from "@gantry/wire";
import type { TokenUsage } from "../../engines/models/driver.ts";
import { type Micros, priceOf } from "../../kernel/money.ts";

export interface Work {
  seconds: number;
  usage: TokenUsage | undefined;
  /** Files, or one where the model makes none. */
  outputs: number;
}

export function isPricedByTokens(pricing: Pricing): boolean {
  const { per_million_input_tokens, per_million_cached_tokens, per_million_output_tokens } = pricing;
  return Boolean(per_million_input_tokens || per_million_cached_tokens || per_million_output_tokens);
}

/** More than one answer has: many times the widest context that a model is known for. */
const mostReported = 10_000_000;

/** Whoever runs an upstream writes these numbers, and they are money: what no answer can have is taken for not reported. */
export function isBelievable(usage: TokenUsage): boolean {
  return countsOf(usage).every((count) => count <= mostReported);
}

export function isCountable(usage: TokenUsage): boolean {
  return countsOf(usage).every((count) => Number.isInteger(count) && count >= 0);
}

function countsOf({ inputTokens, outputTokens, cachedTokens = 0 }: TokenUsage): number[] {
  return [inputTokens, outputTokens, cachedTokens];
}

/** A run that came to its end pays for everything. */
export function chargeWhenDone(pricing: Pricing, { seconds, usage, outputs }: Work): Micros {
  return priceOf(pricing, {
    requests: 1,
    seconds,
    outputs,
    inputTokens: usage?.inputTokens ?? 0,
    cachedTokens: usage?.cachedTokens ?? 0,
    outputTokens: usage?.outputTokens ?? 0,
  });
}

/** A cancelled run pays for the tokens made and the time used, never for the request or an output. */
export function chargeWhenCancelled(pricing: Pricing, { seconds, usage }: Work): Micros {
  return priceOf(pricing, {
    requests: 0,
    seconds,
    outputs: 0,
    inputTokens: usage?.inputTokens ?? 0,
    cachedTokens: usage?.cachedTokens ?? 0,
    outputTokens: usage?.outputTokens ?? 0,
  });
}
