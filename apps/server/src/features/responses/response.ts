import type { Reply, TokenUsage } from "../predictions/index.ts";

/** An item of a conversation in the form of the protocol. */
export type Item = Record<string, unknown>;

export type ResponseStatus = "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";

/** How a turn has ended. */
export interface TurnEnd {
  status: ResponseStatus;
  output: readonly Item[];
  usage: Record<string, unknown> | null;
  error: { code: string; message: string } | null;
  incompleteDetails: { reason: string } | null;
}

/** One turn of a conversation. */
export interface Turn extends TurnEnd {
  id: string;
  /** As the client named the model. */
  modelName: string;
  previousId: string | null;
  /** Fields of the request that the response repeats. */
  request: Record<string, unknown>;
  createdAt: Date;
  endedAt: Date | null;
}

export interface StoredTurn extends Turn {
  predictionId: string | null;
  runId: string | null;
  endpointId: string | null;
}

export interface NewTurn extends Omit<StoredTurn, "runId" | "endpointId"> {
  runId?: string;
  /** Set for background turns. */
  endpointId?: string;
  input: readonly Item[];
}

/** Predictions and runs have ids of the same form, so that a repeat of a request names the same response. */
export function responseIdOf(id: string): string {
  return `resp_${id.slice(id.indexOf("_") + 1)}`;
}

export const nothingYet: TurnEnd = {
  status: "in_progress",
  output: [],
  usage: null,
  error: null,
  incompleteDetails: null,
};

const incompleteReasons: Partial<Record<Reply["stop"], string>> = {
  length: "max_output_tokens",
  refused: "content_filter",
};

export function turnEndOf(reply: Reply, output: readonly Item[], usage: TokenUsage): TurnEnd {
  const reason = incompleteReasons[reply.stop];
  return {
    status: reason === undefined ? "completed" : "incomplete",
    output,
    usage: usageOf(usage),
    error: null,
    incompleteDetails: reason === undefined ? null : { reason },
  };
}

export function usageOf(usage: TokenUsage): Record<string, unknown> {
  const { inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens = 0 } = usage;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  };
}
