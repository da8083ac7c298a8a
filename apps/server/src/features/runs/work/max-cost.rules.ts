import type { Manifest } from "@gantry/wire";
import type { ChatCall } from "../../../engines/models/chat.ts";
import { priceOf } from "../../../kernel/money.ts";

/** An answer shorter than this is of no use: then the limit is as good as reached. */
const fewestTokens = 16;
const mostTokens = 4096;

/**
 * How long an answer may be so that the call stays within what the run may still cost: undefined where that is no
 * question, 0 where no call can be made any more.
 */
export async function affordableTokens(
  { pricing, timeout_seconds }: Manifest,
  chat: Omit<ChatCall, "signal">,
  room: number | null,
  countTokens: (text: string) => Promise<number>,
): Promise<number | undefined> {
  if (room === null) return undefined;
  const perToken = pricing.per_million_output_tokens ?? 0;
  const isFree = Object.values(pricing).every((price) => !price);
  if (isFree) return undefined;
  if (room <= 0) return 0;
  const asked = await countTokens(JSON.stringify([chat.messages, chat.tools ?? []]));
  const fixed = priceOf(pricing, {
    requests: 1,
    seconds: pricing.per_second ? timeout_seconds : 0,
    outputs: 1,
    inputTokens: asked,
    cachedTokens: 0,
    outputTokens: 0,
  });
  const left = room - fixed;
  if (left < 0) return 0;
  if (perToken === 0) return undefined;
  // A price of one dollar a million tokens is one millionth a token.
  const tokens = Math.floor(left / perToken);
  return tokens < fewestTokens ? 0 : Math.min(tokens, mostTokens);
}
