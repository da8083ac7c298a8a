import { isRecord } from "../../../kernel/is-record.ts";
import type { ChatMessage, Content, ToolCall } from "../chat.ts";
import { writeParts } from "../text/request.ts";

export type Block = Record<string, unknown>;

interface Message {
  role: "user" | "assistant";
  content: Block[];
}

/** The blocks of an assistant message as they must be sent back, with signed thoughts. */
export interface AnthropicOpaque {
  protocol: "anthropic";
  /** Other servers refuse the signatures. Messages stored by earlier versions have no mark. */
  server?: string;
  content: Block[];
}

/** Leaves out the signed thoughts of other servers. */
export function withoutForeignThoughts(messages: readonly ChatMessage[], server: string): readonly ChatMessage[] {
  const isForeign = (message: ChatMessage) =>
    message.role === "assistant" &&
    isOwn(message.opaque) &&
    message.opaque.server !== undefined &&
    message.opaque.server !== server;
  if (!messages.some(isForeign)) return messages;
  return messages.map((message) => {
    if (message.role !== "assistant" || !isForeign(message)) return message;
    const { opaque: _foreign, ...rest } = message;
    return rest;
  });
}

/** The Messages API wants system text apart, alternating roles, all tool results in one message, and no empty text. */
export function writeMessages(messages: readonly ChatMessage[]) {
  const system: string[] = [];
  const written: Message[] = [];
  for (const message of messages) {
    if (message.role === "system") {
      if (message.content !== "") system.push(message.content);
      continue;
    }
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = blocksOf(message);
    const last = written.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) written.push({ role, content });
  }
  return { system: system.join("\n\n"), messages: written };
}

function blocksOf(message: ChatMessage): Block[] {
  if (message.role === "assistant") return assistantBlocks(message);
  if (message.role === "tool") {
    return [
      {
        type: "tool_result",
        tool_use_id: message.callId,
        content: typeof message.content === "string" ? message.content : contentBlocks(message.content),
        ...(message.isError && { is_error: true }),
      },
    ];
  }
  return contentBlocks(message.content);
}

function contentBlocks(content: Content): Block[] {
  return writeParts<Block>(content, {
    text: (text) => ({ type: "text", text }),
    image: ({ contentType, base64 }) => ({
      type: "image",
      source: { type: "base64", media_type: contentType, data: base64 },
    }),
  });
}

function assistantBlocks(message: Extract<ChatMessage, { role: "assistant" }>): Block[] {
  const { opaque, toolCalls } = message;
  if (isOwn(opaque)) {
    const ids = opaque.content.filter((block) => block.type === "tool_use").map((block) => block.id);
    // Calls may have been removed from the message on purpose.
    if (ids.length === toolCalls.length && toolCalls.every((call) => ids.includes(call.id))) {
      return opaque.content.filter(isAccepted).map((block) => withArguments(block, toolCalls));
    }
  }
  const text = message.text.trim() === "" ? [] : [{ type: "text", text: message.text }];
  const calls = toolCalls.map((call) => ({ type: "tool_use", id: call.id, name: call.name, input: call.arguments }));
  return [...text, ...calls];
}

/** The API refuses a thought that was cut before its signature. */
function isAccepted(block: Block): boolean {
  return block.type !== "thinking" || (typeof block.signature === "string" && block.signature !== "");
}

/** Thoughts must be unchanged. Calls are not signed, and their arguments may have been shortened since. */
function withArguments(block: Block, toolCalls: readonly ToolCall[]): Block {
  const call = block.type === "tool_use" ? toolCalls.find(({ id }) => id === block.id) : undefined;
  return call ? { ...block, input: call.arguments } : { ...block };
}

function isOwn(opaque: unknown): opaque is AnthropicOpaque {
  return isRecord(opaque) && opaque.protocol === "anthropic" && Array.isArray(opaque.content);
}

/** Marks the end of a prefix that will be sent again. Thoughts cannot have the mark. */
export function markForCache(blocks: readonly Block[] | undefined): void {
  const last = blocks?.at(-1);
  if (last && last.type !== "thinking" && last.type !== "redacted_thinking") {
    last.cache_control = { type: "ephemeral" };
  }
}
