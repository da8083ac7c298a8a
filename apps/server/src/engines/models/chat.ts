import type { TokenUsage } from "./driver.ts";

export interface ToolCall {
  /** The upstream's id, or a generated one. Unique within a conversation. */
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
      /** JSON that the same upstream must get back unchanged, such as signed thinking. */
      opaque?: unknown;
    }
  | { role: "tool"; callId: string; name: string; content: string; isError?: boolean };

/** Fields of an opaque part that contain thoughts, plain or encrypted. Other fields repeat the message. */
const plainThoughts: ReadonlySet<string> = new Set(["thinking", "text"]);
const encryptedThoughts: ReadonlySet<string> = new Set(["signature", "data", "thoughtSignature"]);
/** Fields that repeat the message's tool calls, which may have been shortened since. */
const repeatedCalls: ReadonlySet<string> = new Set(["input", "functionCall", "restored"]);
/** Encrypted text counts as several times the tokens of the thought in it. */
const encryptedShare = 0.25;

/** Everything that an upstream receives for a message, as text to count. Includes thoughts that must be sent back. */
export function sentText(message: ChatMessage): string {
  if (message.role !== "assistant") return message.content;
  const calls = message.toolCalls.map((call) => call.name + JSON.stringify(call.arguments));
  return [message.text, ...calls, ...thoughtsIn(message.opaque, message.text)].join("\n");
}

function thoughtsIn(part: unknown, answer: string): string[] {
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part).flatMap(([name, value]: [string, unknown]) => {
    if (repeatedCalls.has(name)) return [];
    if (typeof value !== "string") return thoughtsIn(value, answer);
    if (encryptedThoughts.has(name)) return [value.slice(0, Math.ceil(value.length * encryptedShare))];
    // Text of the answer is already counted.
    return plainThoughts.has(name) && !answer.includes(value) ? [value] : [];
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
  /** The answer must be JSON that fits this schema. */
  responseSchema?: Record<string, unknown>;
  maxTokens?: number;
  temperature?: number;
  seed?: number;
  signal: AbortSignal;
  /** Called for each fragment. A returned promise delays the next one. */
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
 * The chat interface of a text backend, used by agent runs. The prediction interface (`ModelDriver.run`) of the same
 * backend is a chat with one user message. Tool arguments that are not a JSON object, or are nested deeper than
 * `deepestBody`, do not fail the call: they arrive as `{ __invalid: text }`.
 */
export interface ChatDriver {
  chat(call: ChatCall): Promise<ChatResult>;
  /** True if the upstream itself enforces `responseSchema`. */
  readonly enforcesSchema: boolean;
}
