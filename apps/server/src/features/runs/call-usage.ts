import type { TokenUsage } from "../../engines/models/driver.ts";
import type { Micros } from "../../kernel/money.ts";

/** Tokens and charge of calls, in the column names of runs. */
export interface CallUsage {
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  cache_write_tokens: number;
  cost_micros: Micros;
}

export const noUsage: CallUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  cost_micros: 0,
};

export function usageOf({ usage, price }: { usage?: TokenUsage | undefined; price: Micros }): CallUsage {
  return {
    input_tokens: usage?.inputTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
    cached_tokens: usage?.cachedTokens ?? 0,
    cache_write_tokens: usage?.cacheWriteTokens ?? 0,
    cost_micros: price,
  };
}

export function addUsage(one: CallUsage, other: CallUsage): CallUsage {
  return {
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    cached_tokens: one.cached_tokens + other.cached_tokens,
    cache_write_tokens: one.cache_write_tokens + other.cache_write_tokens,
    cost_micros: one.cost_micros + other.cost_micros,
  };
}
