import { createHash } from "node:crypto";
import { isRecord } from "../../../kernel/is-record.ts";
import type { ChatMessage } from "../chat.ts";
import { listOf } from "../text/folded-object.ts";

/** What servers call the thoughts of a model, in what they send and in what they want to see again. */
export const thoughtFields = ["reasoning_content", "reasoning"] as const;

/**
 * The thoughts before a tool call. Thinking models of some servers (DeepSeek, Kimi) refuse the call's result unless they
 * come back with it; other servers know no such field, so they go to the one that sent them only.
 */
export interface OpenAiChatOpaque {
  protocol: "openai-chat";
  server: string;
  field: (typeof thoughtFields)[number];
  text: string;
}

/** One server and model. A mark, because messages are kept where its address has no business. */
export function serverMark(url: string, model: string): string {
  return createHash("sha256").update(`${url}\n${model}`).digest("hex").slice(0, 16);
}

export function thoughtsOf(
  { opaque, toolCalls }: Extract<ChatMessage, { role: "assistant" }>,
  server: string | undefined,
): Record<string, string> {
  if (toolCalls.length === 0 || !isOwn(opaque) || opaque.server !== server) return {};
  return { [opaque.field]: opaque.text };
}

function isOwn(opaque: unknown): opaque is OpenAiChatOpaque {
  return (
    isRecord(opaque) &&
    opaque.protocol === "openai-chat" &&
    typeof opaque.text === "string" &&
    thoughtFields.some((field) => field === opaque.field)
  );
}

export interface PartedContent {
  text: string;
  thought: string;
}

/** What a message's content says: most servers send text, Mistral's sends parts where its model thinks. */
export function partedContent(content: unknown): PartedContent {
  if (typeof content === "string") return { text: content, thought: "" };
  const parts = listOf(content).filter(isRecord);
  return {
    text: parts.map(({ type, text }) => (type !== "thinking" && typeof text === "string" ? text : "")).join(""),
    thought: parts.map(({ type, thinking }) => (type === "thinking" ? partText(thinking) : "")).join(""),
  };
}

function partText(thinking: unknown): string {
  return typeof thinking === "string" ? thinking : partedContent(thinking).text;
}
