import { type InputValue, readableText } from "../../engines/models/driver.ts";
import type { Micros } from "../../kernel/money.ts";
import { reservationOf } from "../billing/index.ts";
import type { Model } from "../models/index.ts";

/** What a run of this input may cost. Tokens are counted only where they have a price. */
export function reservationFor(
  model: Model,
  input: Readonly<Record<string, InputValue>>,
  countTokens: (text: string) => Promise<number>,
): Micros | Promise<Micros> {
  const { pricing } = model.manifest;
  const inputIsPriced = (pricing.per_million_input_tokens ?? 0) > 0 || (pricing.per_million_cached_tokens ?? 0) > 0;
  const maxTokens = typeof input.max_tokens === "number" ? input.max_tokens : undefined;
  const reserve = (countedTokens: number) => reservationOf(model.manifest, { countedTokens, maxTokens });
  return inputIsPriced ? countTokens(readableText(input)).then(reserve) : reserve(0);
}
