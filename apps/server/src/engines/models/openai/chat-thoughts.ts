import { createHash } from "node:crypto";
import type { ChatMessage } from "../chat.ts";
import { isObject } from "../text/answer.ts";

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
    isObject(opaque) &&
    opaque.protocol === "openai-chat" &&
    typeof opaque.text === "string" &&
    thoughtFields.some((field) => field === opaque.field)
  );
}
