import type { Manifest } from "@gantry/wire";
import { type Micros, priceOf } from "../../kernel/money.ts";

export const defaultMaxTokens = 4096;
/** What the books can count; nobody has a model that makes so many. */
const mostTokens = 2_147_483_647;

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
    outputTokens: reservedTokens(input.maxTokens),
  });
}

/** The manifest may leave the field without bounds: whatever it says, a reservation is never less than nothing. */
function reservedTokens(maxTokens: number | undefined): number {
  return Math.ceil(Math.min(Math.max(maxTokens ?? defaultMaxTokens, 0), mostTokens));
}
