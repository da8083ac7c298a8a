export interface ToolCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

export type Message =
  | { role: "system" | "user"; content: string }
  | { role: "assistant"; toolCalls: readonly ToolCall[] }
  | { role: "tool"; callId: string; name: string; content: string; isError?: boolean };

export interface Tool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
}

export interface Request {
  messages: readonly Message[];
  tools?: readonly Tool[];
  toolChoice?: "auto" | "required" | "none" | { name: string };
  /** The answer is JSON that fits this schema. */
  responseSchema?: Record<string, unknown>;
}

/** Either text or tool calls. */
export interface Step {
  text: string;
  toolCalls: readonly ToolCall[];
}
