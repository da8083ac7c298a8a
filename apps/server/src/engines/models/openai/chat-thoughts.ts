import { isRecord } from "../../../kernel/is-record.ts";
import type { ChatMessage } from "../chat.ts";
import { listOf } from "../text/folded-object.ts";

/** Names of the field for thoughts, in both directions. */
export const thoughtFields = ["reasoning_content", "reasoning"] as const;

/**
 * The thoughts before a tool call. Some servers (DeepSeek, Kimi) refuse the call's result without them. Other servers do
 * not know the field, so thoughts are sent only to the server that produced them.
 */
export interface OpenAiChatOpaque {
  protocol: "openai-chat";
  server: string;
  field: (typeof thoughtFields)[number];
  text: string;
}

/** Plain thoughts are those of a client that keeps its own messages. `server` is undefined if thoughts are refused. */
export function thoughtsOf(
  { opaque, toolCalls, reasoning }: Extract<ChatMessage, { role: "assistant" }>,
  server: string | undefined,
): Record<string, string> {
  if (toolCalls.length === 0 || server === undefined) return {};
  if (isOwn(opaque)) return opaque.server === server ? { [opaque.field]: opaque.text } : {};
  return opaque === undefined && reasoning ? { [thoughtFields[0]]: reasoning } : {};
}

function isOwn(opaque: unknown): opaque is OpenAiChatOpaque {
  return (
    isRecord(opaque) &&
    opaque.protocol === "openai-chat" &&
    typeof opaque.text === "string" &&
    thoughtFields.some((field) => field === opaque.field)
  );
}

export interface MessageContent {
  text: string;
  thought: string;
}

/** Most servers send text. Mistral sends parts when its model thinks. */
export function readContent(content: unknown): MessageContent {
  if (typeof content === "string") return { text: content, thought: "" };
  const parts = listOf(content).filter(isRecord);
  return {
    text: parts.map(({ type, text }) => (type !== "thinking" && typeof text === "string" ? text : "")).join(""),
    thought: parts.map(({ type, thinking }) => (type === "thinking" ? partText(thinking) : "")).join(""),
  };
}

function partText(thinking: unknown): string {
  return typeof thinking === "string" ? thinking : readContent(thinking).text;
}
