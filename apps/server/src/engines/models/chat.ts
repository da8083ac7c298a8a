import type { TokenUsage } from "./driver.ts";

export interface ToolCall {
  /** As the upstream named it, or made here where it names none; unique within a conversation. */
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

export type ChatMessage =
  | { role: "system" | "user"; content: string }
  | {
      role: "assistant";
      text: string;
      toolCalls: readonly ToolCall[];
      /** What the same upstream wants to see again unchanged (e.g. signed thinking); opaque, JSON. */
      opaque?: unknown;
    }
  | { role: "tool"; callId: string; name: string; content: string; isError?: boolean };

/** Fields of an opaque part that hold thoughts, as words or sealed. All else in it stands in the message too. */
const thoughtWords: ReadonlySet<string> = new Set(["thinking", "text"]);
const sealedThoughts: ReadonlySet<string> = new Set(["signature", "data", "thoughtSignature"]);
/** Where the message's own words and calls stand in it, which may have been shortened since. */
const ownWords: ReadonlySet<string> = new Set(["input", "functionCall", "restored"]);
/** A sealed thought is about as long as its words, but as text it would be counted as several times as many tokens. */
const sealedPart = 0.25;

/** All that an upstream is sent of a message, as text to count: what it must see again of its thoughts included. */
export function sentText(message: ChatMessage): string {
  if (message.role !== "assistant") return message.content;
  const calls = message.toolCalls.map((call) => call.name + JSON.stringify(call.arguments));
  return [message.text, ...calls, ...thoughtsIn(message.opaque, message.text)].join("\n");
}

function thoughtsIn(part: unknown, said: string): string[] {
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part).flatMap(([name, value]: [string, unknown]) => {
    if (ownWords.has(name)) return [];
    if (typeof value !== "string") return thoughtsIn(value, said);
    if (sealedThoughts.has(name)) return [value.slice(0, Math.ceil(value.length * sealedPart))];
    // What was said aloud is counted already.
    return thoughtWords.has(name) && !said.includes(value) ? [value] : [];
  });
}

export interface ChatTool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
}

export interface ChatCall {
  messages: readonly ChatMessage[];
  tools?: readonly ChatTool[];
  toolChoice?: "auto" | "required" | "none" | { name: string };
  /** The answer must be JSON of this schema; by the upstream's own means where it has them. */
  responseSchema?: Record<string, unknown>;
  maxTokens?: number;
  temperature?: number;
  seed?: number;
  signal: AbortSignal;
  /** Pieces as they arrive; a returned promise means: wait for it before the next. */
  onText?(text: string): void | Promise<void>;
  onReasoning?(text: string): void | Promise<void>;
}

export interface ChatResult {
  text: string;
  reasoning: string;
  toolCalls: readonly ToolCall[];
  opaque?: unknown;
  usage: TokenUsage;
  stop: "end" | "tool_calls" | "length" | "refused";
}

/**
 * The chat face of a text backend: messages and tools in, text, reasoning, tool calls and usage out. Agents' runs call
 * it; the prediction face (`ModelDriver.run`) of the same backend is a chat of one user message. Arguments of a tool
 * call that are not a JSON object, or are nested deeper than what users may send (`deepestBody`), reject nothing: they
 * arrive as `{}` with the raw text, where there is one, under `__invalid`.
 */
export interface ChatDriver {
  chat(call: ChatCall): Promise<ChatResult>;
  /** True where `responseSchema` is enforced by the upstream itself. */
  readonly enforcesSchema: boolean;
}
