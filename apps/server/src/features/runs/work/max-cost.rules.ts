import { type Micros, usualAnswerTokens } from "../../../kernel/money.ts";
import { reservationOf } from "../../billing/index.ts";
import type { Model } from "../../models/index.ts";
import { answerLimit, termsOfChat } from "../../predictions/index.ts";

/** An answer shorter than this is of no use: then the limit is as good as reached. */
const fewestTokens = 16;

export interface Affordable {
  /** How long the answer may be; undefined where its length costs nothing. */
  maxTokens: number | undefined;
  /** It may be this short only because no more can be paid. */
  isShort: boolean;
  /** What the call reserves, and so what it comes to at most. */
  most: Micros;
}

/**
 * The call that stays within what the run may still cost: `no limit` where that is no question, undefined where no call
 * can be made any more.
 */
export function affordableCall(
  manifest: Pick<Model["manifest"], "pricing" | "timeout_seconds" | "input" | "output" | "backend">,
  inputTokens: number,
  room: number | null,
): Affordable | "no limit" | undefined {
  if (room === null) return "no limit";
  const isFree = Object.values(manifest.pricing).every((price) => !price);
  if (isFree) return "no limit";
  if (room <= 0) return undefined;
  const perToken = manifest.pricing.per_million_output_tokens ?? 0;
  const priceWith = (maxTokens: number) => reservationOf(termsOfChat(manifest, { inputTokens, maxTokens }));
  if (perToken === 0) {
    const most = priceWith(fewestTokens);
    return most > room ? undefined : { maxTokens: undefined, isShort: false, most };
  }
  // A price of one dollar a million tokens is one millionth a token. One millionth less, because the sum is rounded.
  const tokens = Math.floor((room - priceWith(1) - 1) / perToken);
  if (tokens < fewestTokens) return undefined;
  const longest = answerLimit(manifest, undefined) ?? usualAnswerTokens;
  const maxTokens = Math.min(tokens, longest);
  return { maxTokens, isShort: tokens < longest, most: priceWith(maxTokens) };
}
