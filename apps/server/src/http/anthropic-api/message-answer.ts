import type { Reply, TokenUsage } from "../../features/predictions/index.ts";
import { isRecord } from "../../kernel/is-record.ts";
import type { ChatAnswered, ChatBegun } from "../doors/chat-door.ts";
import { ownSignature } from "./own-thoughts.ts";
import type { ShownThoughts } from "./read-options.ts";

export type AnswerBlock = Record<string, unknown> & { type: string };

const stopReasons: Readonly<Record<Reply["stop"], string>> = {
  end: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  refused: "refusal",
  stop_sequence: "stop_sequence",
};

export function messageOf(end: ChatAnswered, shown: ShownThoughts): Record<string, unknown> {
  const { native } = end.reply;
  if (native) return { ...native, model: end.modelName };
  return {
    ...headOf(end),
    content: answerBlocks(end, shown),
    ...stopOf(end.reply),
    usage: usageOf(end.usage),
  };
}

export function headOf({ id, modelName }: ChatBegun) {
  return { id: `msg_${id.slice(id.indexOf("_") + 1)}`, type: "message", role: "assistant", model: modelName };
}

export function stopOf({ stop, stopSequence }: Reply) {
  return {
    stop_reason: stopReasons[stop],
    stop_sequence: stop === "stop_sequence" ? stopSequence || null : null,
    stop_details: stop === "refused" ? { type: "refusal", category: null, explanation: null } : null,
  };
}

/** Anthropic's `input_tokens` exclude cache reads and writes; ours include them. */
export function usageOf({ inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens = 0 }: TokenUsage) {
  return {
    input_tokens: Math.max(0, inputTokens - cachedTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    output_tokens: outputTokens,
  };
}

export function answerBlocks({ id, reply }: ChatAnswered, shown: ShownThoughts): AnswerBlock[] {
  const signed = signedBlocks(reply.opaque);
  if (signed) return signed;
  const { reasoning, text, toolCalls } = reply;
  const thinking = { type: "thinking", thinking: shown === "omitted" ? "" : reasoning, signature: ownSignature(id) };
  return [
    ...(reasoning === "" || shown === "none" ? [] : [thinking]),
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...toolCalls.map(({ id: callId, name, arguments: input }) => ({ type: "tool_use", id: callId, name, input })),
  ];
}

/** The blocks of a native answer with thoughts, which were stored as they arrived. */
function signedBlocks(opaque: unknown): AnswerBlock[] | undefined {
  if (!isRecord(opaque) || opaque.protocol !== "anthropic" || !Array.isArray(opaque.content)) return undefined;
  return opaque.content as AnswerBlock[];
}
