import type { ModelPricing, Pricing } from "@gantry/sdk";
import { count, money } from "../../ui/format.ts";

const units: readonly (readonly [keyof Pricing, string])[] = [
  ["per_request", "per run"],
  ["per_second", "per second"],
  ["per_output", "per output"],
  ["per_million_input_tokens", "per 1M input tokens"],
  ["per_million_cached_tokens", "per 1M cached tokens"],
  ["per_million_cache_write_tokens", "per 1M tokens written to cache"],
  ["per_million_output_tokens", "per 1M output tokens"],
];

/** For example ["$0.03 per run"]. */
export function priceParts({ batch_factor: factor = 1, ...pricing }: ModelPricing): string[] {
  const parts: string[] = units.flatMap(([part, unit]) => {
    const dollars = pricing[part] ?? 0;
    return dollars > 0 ? [`${money(dollars)} ${unit}`] : [];
  });
  if (parts.length === 0) return ["Free"];
  return factor === 1 ? parts : [...parts, `${percent(factor)} of these prices in batches`];
}

const percent = (factor: number): string => `${Math.round(factor * 10_000) / 100}%`;

/** Known before a run starts. */
export interface Prospect {
  /** Of all input strings. */
  characters: number;
  /** Of the output. */
  maxTokens: number;
  /** Upper bound, for example of images. */
  outputs: number;
  timeoutSeconds: number;
}

/** Default of the server. */
export const defaultMaxTokens = 4096;
const charactersPerToken = 4;
/** The server holds this much more for input than it counts. */
const inputMargin = { part: 0.25, tokens: 64 };

/** The exact price of a run if it is fixed, otherwise its maximum. */
export function estimateText(pricing: Pricing, prospect: Prospect): string {
  const { characters, maxTokens, outputs, timeoutSeconds } = prospect;
  const { per_request = 0, per_second = 0, per_output = 0 } = pricing;
  const { per_million_input_tokens: perInput = 0, per_million_output_tokens: perOutput = 0 } = pricing;
  const { per_million_cached_tokens: perCached = 0, per_million_cache_write_tokens: perWritten = 0 } = pricing;
  const fixed = per_request + per_output * outputs;
  const inputTokens = (characters / charactersPerToken) * (1 + inputMargin.part) + inputMargin.tokens;
  const highest = Math.max(perInput, perCached, perWritten);
  const tokens = (highest * inputTokens + perOutput * maxTokens) / 1e6;
  const time = per_second * timeoutSeconds;
  const hasSeveral = per_output > 0 && outputs > 1;
  if (tokens === 0 && time === 0 && !hasSeveral) return fixed === 0 ? "Free" : `${money(fixed)} per run`;
  const bounds = [
    ...(hasSeveral ? [`${count(outputs)} outputs`] : []),
    ...(perOutput > 0 ? [`${count(maxTokens)} output tokens`] : []),
    ...(time > 0 ? [`${count(timeoutSeconds)} seconds`] : []),
  ];
  return `Up to about ${money(fixed + tokens + time)}${bounds.length > 0 ? ` for ${bounds.join(" and ")}` : ""}`;
}
