import { readableText, type StopReason, type TokenUsage } from "./driver.ts";

export interface ToolCall {
  /** The upstream's id, or a generated one. Unique within a conversation. */
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

export type ContentPart = { type: "text"; text: string } | { type: "image"; contentType: string; base64: string };

/** Text alone is a string. */
export type Content = string | readonly ContentPart[];

export type ChatMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: Content }
  | {
      role: "assistant";
      text: string;
      toolCalls: readonly ToolCall[];
      /** Thoughts in plain text. Sent only to upstreams that accept thoughts without a signature. */
      reasoning?: string;
      /** JSON that the same upstream must get back unchanged, such as signed thinking. */
      opaque?: unknown;
    }
  | { role: "tool"; callId: string; name: string; content: Content; isError?: boolean };

export function textOfContent(content: Content): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** The number of images in the messages, which are reserved by a fixed number of tokens each. */
export function imagesIn(messages: readonly ChatMessage[]): number {
  const contents = messages.map((message) => ("content" in message ? message.content : ""));
  return contents.flatMap((content) =>
    typeof content === "string" ? [] : content.filter(({ type }) => type === "image"),
  ).length;
}

/** Fields of an opaque part that contain thoughts, plain or encrypted. Other fields repeat the message. */
const plainThoughts: ReadonlySet<string> = new Set(["thinking", "text"]);
const encryptedThoughts: ReadonlySet<string> = new Set(["signature", "data", "thoughtSignature"]);
/** Fields that repeat the message's tool calls, which may have been shortened since. */
const repeatedCalls: ReadonlySet<string> = new Set(["input", "functionCall", "restored"]);
/** Encrypted text counts as several times the tokens of the thought in it. */
const encryptedShare = 0.25;

/** Everything that an upstream receives for a message, as text to count. Includes thoughts that must be sent back. */
export function sentText(message: ChatMessage): string {
  if (message.role !== "assistant") return textOfContent(message.content);
  const calls = message.toolCalls.map((call) => call.name + JSON.stringify(call.arguments));
  const plain = message.reasoning === undefined ? [] : [message.reasoning];
  const thoughts = message.opaque === undefined ? plain : thoughtsIn(message.opaque, message.text);
  return [message.text, ...calls, ...thoughts].join("\n");
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

/** Everything that the model reads, for counting. */
export function promptText({
  messages,
  tools = [],
  responseSchema,
  extra = {},
}: Pick<ChatCall, "messages" | "tools" | "responseSchema" | "extra">): string {
  const sent = messages.map(sentText);
  const others = readableText(extra);
  const schema = responseSchema ? [JSON.stringify(responseSchema)] : [];
  const declared = tools.map((tool) => JSON.stringify(tool));
  return [...sent, ...declared, ...schema, ...(others === "" ? [] : [others])].join("\n");
}

/** Levels of the protocols: how long a model thinks before it answers. */
export type ReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh";

export interface ChatCall {
  messages: readonly ChatMessage[];
  tools?: readonly ChatTool[];
  toolChoice?: "auto" | "required" | "none" | { name: string };
  /** False: at most one tool call in an answer. */
  parallelToolCalls?: boolean;
  /** The answer must be JSON that fits this schema. */
  responseSchema?: Record<string, unknown>;
  /** `json`: the answer must be a JSON object of any shape. */
  responseFormat?: "text" | "json";
  maxTokens?: number;
  temperature?: number;
  topP?: number;
  seed?: number;
  /** Texts at which the answer ends. They are not part of it. */
  stop?: readonly string[];
  reasoningEffort?: ReasoningEffort;
  /** Further fields, copied into the upstream's body by name. */
  extra?: Readonly<Record<string, unknown>>;
  /** Later calls start with the same messages, as in an agent run: a cache at the upstream pays off. */
  repeats?: boolean;
  /** A request that is passed on as it is. Used if the backend speaks its protocol, and otherwise ignored. */
  native?: NativeRequest;
  signal: AbortSignal;
  /** See `ModelCall`. */
  onBegun?: (() => void) | undefined;
  /** Called for each fragment. A returned promise delays the next one. */
  onText?(text: string): void | Promise<void>;
  onReasoning?(text: string): void | Promise<void>;
  /** Called when a call begins, with an empty piece, and for each piece of its arguments. */
  onToolCall?(piece: ToolCallPiece): void | Promise<void>;
}

export interface ToolCallPiece {
  /** Counts the calls of an answer from 0. */
  index: number;
  id: string;
  name: string;
  /** The next piece of the arguments, which are JSON text. */
  arguments: string;
}

export type Protocol = "openai-chat" | "anthropic";

/**
 * A request whose client and backend speak the same protocol. Only the model's name, a missing output limit and
 * `include_usage` are changed, so that fields unknown to Gantry arrive.
 */
export interface NativeRequest {
  protocol: Protocol;
  body: Readonly<Record<string, unknown>>;
  /** Headers of the protocol, such as `anthropic-beta`. */
  headers?: Readonly<Record<string, string>>;
  /** Whether the client wants a stream. The upstream is called the same way. */
  stream: boolean;
  /** Receives each event of the upstream as it arrived. Other callbacks of the call are not used then. */
  onEvent?(event: NativeEvent): void | Promise<void>;
}

export interface NativeEvent {
  name: string | undefined;
  /** JSON text, or `[DONE]`. */
  data: string;
  /** Set if the event contains only text and repeats the form of an earlier one. */
  around?: TextWithin | undefined;
}

/** An event in three parts, `data === before + text + after`. `text` is still escaped, without its quotation marks. */
export interface TextWithin {
  /** The same string for every event of this form, so that a changed copy can be kept. */
  before: string;
  text: string;
  after: string;
}

export interface ChatResult {
  text: string;
  reasoning: string;
  toolCalls: readonly ToolCall[];
  opaque?: unknown;
  usage: TokenUsage;
  stop: StopReason;
  /** The stop text that ended the answer, if the upstream names it. */
  stopSequence?: string;
  /** The body of the answer to a native request that is not streamed. */
  native?: Record<string, unknown>;
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
  /** The protocol of native requests that the backend accepts. */
  readonly protocol?: Protocol;
  /** Counts the input tokens of a native request, if the upstream can. */
  countTokens?(request: Omit<NativeRequest, "stream" | "onEvent">, signal: AbortSignal): Promise<number>;
}
