import type { Manifest } from "@gantry/wire";
import type { ChatCall } from "../../../engines/models/chat.ts";
import { type Micros, priceOf, usualAnswerTokens } from "../../../kernel/money.ts";
import { dearestCached } from "../../billing/index.ts";
import { answerLimit } from "../../predictions/index.ts";

/** An answer shorter than this is of no use: then the limit is as good as reached. */
const fewestTokens = 16;

/** Upstreams count in ways of their own, and wrap messages into more than can be seen here. */
const countedLess = 1.1;
const wrapping = 50;

export interface Affordable {
  /** How long the answer may be; undefined where its length costs nothing. */
  maxTokens: number | undefined;
  /** It may be this short only because no more can be paid. */
  isShort: boolean;
  /** What the call comes to at most. */
  most: Micros;
}

type PricedModel = Pick<Manifest, "pricing" | "timeout_seconds" | "input" | "backend">;

/**
 * The call that stays within what the run may still cost: `no limit` where that is no question, undefined where no call
 * can be made any more.
 */
export async function affordableCall(
  manifest: PricedModel,
  chat: Omit<ChatCall, "signal">,
  room: number | null,
  countTokens: (text: string) => Promise<number>,
): Promise<Affordable | "no limit" | undefined> {
  if (room === null) return "no limit";
  const { pricing, timeout_seconds } = manifest;
  const perToken = pricing.per_million_output_tokens ?? 0;
  const isFree = Object.values(pricing).every((price) => !price);
  if (isFree) return "no limit";
  if (room <= 0) return undefined;
  const counted = await countTokens(JSON.stringify([chat.messages, chat.tools ?? [], chat.responseSchema ?? null]));
  const inputTokens = Math.ceil(counted * countedLess) + wrapping;
  const cachedTokens = dearestCached(pricing, inputTokens);
  const seconds = pricing.per_second ? timeout_seconds : 0;
  const priceWith = (outputTokens: number) =>
    priceOf(pricing, { requests: 1, seconds, outputs: 1, inputTokens, cachedTokens, outputTokens });
  const left = room - priceWith(0);
  if (left < 0) return undefined;
  if (perToken === 0) return { maxTokens: undefined, isShort: false, most: priceWith(0) };
  // A price of one dollar a million tokens is one millionth a token. One less, because the sum is rounded once.
  const tokens = Math.floor(left / perToken) - 1;
  if (tokens < fewestTokens) return undefined;
  const longest = answerLimit(manifest, undefined) ?? usualAnswerTokens;
  const maxTokens = Math.min(tokens, longest);
  return { maxTokens, isShort: tokens < longest, most: priceWith(maxTokens) };
}
