import type { Reply, TokenUsage } from "../../features/predictions/index.ts";
import type { ChatAnswered } from "../doors/chat-door.ts";
import { argumentsText } from "../doors/tool-arguments.ts";

export const finishReasons: Readonly<Record<Reply["stop"], string>> = {
  end: "stop",
  stop_sequence: "stop",
  length: "length",
  tool_calls: "tool_calls",
  refused: "content_filter",
};

/** The body of an answer that is not streamed. */
export function chatCompletionOf({ id, modelName, createdAt, reply, usage }: ChatAnswered): Record<string, unknown> {
  if (reply.native) return { ...reply.native, model: modelName };
  return {
    id: `chatcmpl-${id}`,
    object: "chat.completion",
    created: Math.floor(createdAt.getTime() / 1000),
    model: modelName,
    choices: [{ index: 0, message: messageOf(reply), logprobs: null, finish_reason: finishReasons[reply.stop] }],
    usage: usageOf(usage),
  };
}

function messageOf({ text, reasoning, toolCalls }: Reply): Record<string, unknown> {
  return {
    role: "assistant",
    content: text === "" && toolCalls.length > 0 ? null : text,
    refusal: null,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map((call) => ({
        id: call.id,
        type: "function",
        function: { name: call.name, arguments: argumentsText(call) },
      })),
    }),
  };
}

export function usageOf({ inputTokens, outputTokens, cachedTokens = 0 }: TokenUsage): Record<string, unknown> {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}
