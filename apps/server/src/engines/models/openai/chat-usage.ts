import { isRecord } from "../../../kernel/is-record.ts";
import { type ReportedUsage, tokens } from "../text/answer.ts";

export function usageOf(usage: Record<string, unknown>): ReportedUsage {
  const inputTokens = tokens(usage.prompt_tokens);
  const completion = tokens(usage.completion_tokens);
  const details = isRecord(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const cachedTokens = tokens(details.cached_tokens) ?? tokens(usage.prompt_cache_hit_tokens);
  // OpenAI does not report cache writes; gateways to other vendors do, under different names.
  const cacheWriteTokens =
    tokens(details.cache_write_tokens) ??
    tokens(details.cache_creation_tokens) ??
    tokens(usage.cache_creation_input_tokens) ??
    tokens(usage.cache_write_tokens);
  const completionDetails = isRecord(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const reasoning = tokens(completionDetails.reasoning_tokens) ?? 0;
  // Reasoning is part of the completion unless the total shows that the server counts it separately.
  const apart = usage.total_tokens === (inputTokens ?? 0) + (completion ?? 0) + reasoning ? reasoning : 0;
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(completion !== undefined && { outputTokens: completion + apart }),
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
  };
}
