import { type Micros, usualAnswerTokens } from "../../../kernel/money.ts";
import { allPricings, pricesOf, reservationOf } from "../../billing/index.ts";
import type { Model } from "../../models/index.ts";
import { answerLimit, termsOfChat } from "../../predictions/index.ts";

/** Shorter answers are useless, so the limit counts as reached. */
const fewestTokens = 16;

export interface Affordable {
  /** Length limit of the answer; undefined if its length costs nothing. */
  maxTokens: number | undefined;
  /** The budget shortens the answer. */
  isShort: boolean;
  /** The hold of the call, which is its largest charge. */
  most: Micros;
}

/** The longest call within the budget; `no limit` if the cost does not matter, undefined if no call is affordable. */
export function affordableCall(
  manifest: Pick<Model["manifest"], "pricing" | "timeout_seconds" | "input" | "output" | "backend" | "backends">,
  inputTokens: number,
  budget: number | null,
): Affordable | "no limit" | undefined {
  if (budget === null) return "no limit";
  const pricings = allPricings(pricesOf(manifest));
  const isFree = pricings.every((pricing) => Object.values(pricing).every((price) => !price));
  if (isFree) return "no limit";
  if (budget <= 0) return undefined;
  const perToken = Math.max(...pricings.map((pricing) => pricing.per_million_output_tokens ?? 0));
  const priceWith = (maxTokens: number) => reservationOf(termsOfChat(manifest, { inputTokens, maxTokens }));
  if (perToken === 0) {
    const most = priceWith(fewestTokens);
    return most > budget ? undefined : { maxTokens: undefined, isShort: false, most };
  }
  // Dollars per million tokens are micros per token. One micro less, because the sum is rounded.
  const tokens = Math.floor((budget - priceWith(1) - 1) / perToken);
  if (tokens < fewestTokens) return undefined;
  const longest = answerLimit(manifest, undefined) ?? usualAnswerTokens;
  const maxTokens = Math.min(tokens, longest);
  return { maxTokens, isShort: tokens < longest, most: priceWith(maxTokens) };
}
