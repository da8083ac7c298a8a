import type { Manifest } from "@gantry/wire";
import { type Micros, priceOf } from "../../kernel/money.ts";

export const defaultMaxTokens = 4096;

/**
 * What a run may cost, reserved at acceptance: one request, the whole time limit, one output, the counted input and
 * all output tokens that it may make.
 */
export function reservationOf(
  manifest: Manifest,
  input: { countedTokens: number; maxTokens: number | undefined },
): Micros {
  return priceOf(manifest.pricing, {
    requests: 1,
    seconds: manifest.pricing.per_second ? manifest.timeout_seconds : 0,
    outputs: 1,
    inputTokens: input.countedTokens,
    cachedTokens: 0,
    outputTokens: input.maxTokens ?? defaultMaxTokens,
  });
}
