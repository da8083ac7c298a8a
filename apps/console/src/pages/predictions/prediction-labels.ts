import type { PredictionMode, PredictionStatus, PredictionSummary } from "@gantry/sdk";
import { predictionModes, predictionStatuses } from "../../searches.rules.ts";
import { count } from "../../ui/format.ts";

const statusLabels: Record<PredictionStatus, string> = {
  waiting: "Waiting",
  running: "Running",
  succeeded: "Succeeded",
  failed: "Failed",
  cancelled: "Cancelled",
};

export const modeLabels: Record<PredictionMode, string> = {
  sync: "Sync",
  stream: "Streamed",
  async: "Queued",
  agent: "Agent",
};

export const statusChoices = predictionStatuses.map((value) => ({ value, label: statusLabels[value] }));
export const modeChoices = predictionModes.map((value) => ({ value, label: modeLabels[value] }));

const doorLabels: Record<NonNullable<PredictionSummary["door"]>, string> = {
  "openai-chat": "OpenAI Chat",
  "openai-responses": "OpenAI Responses",
  "openai-embeddings": "OpenAI Embeddings",
  "openai-images": "OpenAI Images",
  "anthropic-messages": "Anthropic Messages",
  mcp: "MCP",
};

/** The protocol of the client; undefined for Gantry's own API. */
export const doorOf = ({ door }: Pick<PredictionSummary, "door">): string | undefined =>
  door === null ? undefined : doorLabels[door];

type Tokens = Pick<PredictionSummary, "input_tokens" | "output_tokens" | "cached_tokens" | "cache_write_tokens">;

/** Undefined for models without token counts. */
export function tokensOf({ input_tokens, output_tokens }: Tokens): string | undefined {
  if (input_tokens === null && output_tokens === null) return undefined;
  return `${count(input_tokens ?? 0)} in, ${count(output_tokens ?? 0)} out`;
}

export function cacheUse({ cached_tokens, cache_write_tokens }: Tokens): string[] {
  return [
    ...(cached_tokens ? [`${count(cached_tokens)} cached`] : []),
    ...(cache_write_tokens > 0 ? [`${count(cache_write_tokens)} written to cache`] : []),
  ];
}
