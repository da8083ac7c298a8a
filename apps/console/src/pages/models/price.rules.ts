import type { Pricing } from "@gantry/sdk";
import { count, money } from "../../ui/format.ts";

const words: readonly (readonly [keyof Pricing, string])[] = [
  ["per_request", "a run"],
  ["per_second", "a second"],
  ["per_output", "an output"],
  ["per_million_input_tokens", "a million input tokens"],
  ["per_million_cached_tokens", "a million cached tokens"],
  ["per_million_cache_write_tokens", "a million tokens written to the cache"],
  ["per_million_output_tokens", "a million output tokens"],
];

/** Each part of a price, as "$0.03 a run". */
export function priceParts(pricing: Pricing): string[] {
  const parts = words.flatMap(([part, per]) => {
    const dollars = pricing[part] ?? 0;
    return dollars > 0 ? [`${money(dollars)} ${per}`] : [];
  });
  return parts.length > 0 ? parts : ["Free"];
}

/** What is known of a run before it begins. */
export interface Prospect {
  /** In all texts that are sent. */
  characters: number;
  /** Of the answer. */
  maxTokens: number;
  /** At most; such as pictures. */
  outputs: number;
  timeoutSeconds: number;
}

/** What the service reckons with where a request says nothing. */
export const usualMaxTokens = 4096;
const charactersPerToken = 4;
/** What is reserved for input beside what is counted. */
const moreInput = { part: 0.25, tokens: 64 };

/** What one run may cost, in words: exact where the price is, otherwise the most that it comes to. */
export function estimateInWords(pricing: Pricing, prospect: Prospect): string {
  const { characters, maxTokens, outputs, timeoutSeconds } = prospect;
  const { per_request = 0, per_second = 0, per_output = 0 } = pricing;
  const { per_million_input_tokens: perInput = 0, per_million_output_tokens: perOutput = 0 } = pricing;
  const { per_million_cached_tokens: perCached = 0, per_million_cache_write_tokens: perWritten = 0 } = pricing;
  const fixed = per_request + per_output * outputs;
  const inputTokens = (characters / charactersPerToken) * (1 + moreInput.part) + moreInput.tokens;
  const dearest = Math.max(perInput, perCached, perWritten);
  const tokens = (dearest * inputTokens + perOutput * maxTokens) / 1e6;
  const time = per_second * timeoutSeconds;
  const hasSeveral = per_output > 0 && outputs > 1;
  if (tokens === 0 && time === 0 && !hasSeveral) return fixed === 0 ? "Free" : `${money(fixed)} a run`;
  const bounds = [
    ...(hasSeveral ? [`${count(outputs)} outputs`] : []),
    ...(perOutput > 0 ? [`${count(maxTokens)} tokens of answer`] : []),
    ...(time > 0 ? [`${count(timeoutSeconds)} seconds`] : []),
  ];
  return `About ${money(fixed + tokens + time)} at most${bounds.length > 0 ? `, with ${bounds.join(" and ")}` : ""}`;
}
