import { createHash } from "node:crypto";
import type { ChatCall, ChatMessage, Content } from "../../../engines/models/chat.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import { keptFile, publicUrl } from "./kept-input.rules.ts";

/** Hashing is synchronous, so larger images of a request are described without a hash. */
const mostHashedChars = 8 * 1024 * 1024;

/** Fields of a native request that say nothing about the conversation. */
const leftOut: ReadonlySet<string> = new Set(["model", "stream", "stream_options", "store"]);

/** A conversation as it is kept: `messages` and its settings. Images are described, not kept. */
export function keptChat(chat: Omit<ChatCall, "signal" | "onBegun">): Record<string, unknown> {
  const describe = imageDescriber();
  if (chat.native) {
    return nativeFields(chat.native.body, describe, { leftOut });
  }
  const { messages, tools, toolChoice, responseSchema, responseFormat, maxTokens, temperature, topP, seed, stop } =
    chat;
  const { reasoningEffort, extra } = chat;
  return {
    ...(extra && nativeFields(extra, describe)),
    messages: messages.map((message) => keptMessage(message, describe)),
    ...(tools && tools.length > 0 && { tools }),
    ...defined({
      tool_choice: toolChoice,
      response_schema: responseSchema,
      response_format: responseFormat,
      max_tokens: maxTokens,
      temperature,
      top_p: topP,
      seed,
      stop,
      reasoning_effort: reasoningEffort,
    }),
  };
}

function defined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

type Describe = (contentType: string, base64: string) => unknown;

function imageDescriber(): Describe {
  let left = mostHashedChars;
  return (contentType, base64) => {
    left -= base64.length;
    const bytes = left >= 0 ? Buffer.from(base64, "base64") : undefined;
    return keptFile({
      contentType,
      size: bytes?.length ?? Math.floor((base64.length * 3) / 4),
      sha256: bytes && createHash("sha256").update(bytes).digest("hex"),
    });
  };
}

function keptMessage(message: ChatMessage, describe: Describe): Record<string, unknown> {
  if (message.role === "assistant") {
    const { text, toolCalls } = message;
    return { role: "assistant", content: text, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) };
  }
  const content = keptContent(message.content, describe);
  return message.role === "tool"
    ? { role: "tool", tool_call_id: message.callId, name: message.name, content }
    : { role: message.role, content };
}

function keptContent(content: Content, describe: Describe): unknown {
  if (typeof content === "string") return content;
  return content.map((part) =>
    part.type === "text" ? part : { type: "image", image: describe(part.contentType, part.base64) },
  );
}

const dataUri = /^data:([a-z0-9.+/-]+)(?:;[a-z0-9=._-]+)*;base64,/i;
/** Shorter texts are kept as they are. */
const shortestData = 256;
/** Fields with the address of a file or of a tool server. */
const addresses: ReadonlySet<string> = new Set(["image_url", "video_url", "audio_url", "file_url", "server_url"]);
/** Fields with such an address as the `url` in them. */
const holders: ReadonlySet<string> = new Set([...addresses, "source", "mcp_servers"]);
const nothing: ReadonlySet<string> = new Set();

/** Of tool servers, in the tools of OpenAI's protocol and in `mcp_servers` of Anthropic's. */
const credentials: ReadonlySet<string> = new Set(["authorization", "headers", "authorization_token"]);

/**
 * The value of a field of another protocol. Files become descriptions: `data:` URIs, and base64 beside its media type.
 * Entries of a list have the field of the list.
 */
function nativeValue(value: unknown, describe: Describe, field: string): unknown {
  if (typeof value === "string") {
    const [start, type] = (value.length > shortestData && dataUri.exec(value.slice(0, shortestData))) || [];
    return start === undefined || type === undefined ? value : describe(type, value.slice(start.length));
  }
  if (Array.isArray(value)) return value.map((each) => nativeValue(each, describe, field));
  if (!isRecord(value)) return value;
  const { data, media_type: mediaType, format } = value;
  const type = typeof mediaType === "string" ? mediaType : typeof format === "string" ? format : undefined;
  const isFile = typeof data === "string" && type !== undefined && data.length > shortestData;
  const isServer = field === "mcp_servers" || (field === "tools" && value.type === "mcp");
  const fields = nativeFields(value, describe, { leftOut: isServer ? credentials : nothing, field });
  return isFile ? { ...fields, data: describe(type, data) } : fields;
}

/** `field`: the one whose value the record is. Credentials are left out, and links that may contain some. */
function nativeFields(
  record: Readonly<Record<string, unknown>>,
  describe: Describe,
  { leftOut = nothing, field = "" }: { leftOut?: ReadonlySet<string>; field?: string } = {},
): Record<string, unknown> {
  const kept = Object.entries(record).flatMap(([name, value]) => {
    if (leftOut.has(name)) return [];
    const isLink = addresses.has(name) || (name === "url" && holders.has(field));
    const isWeb = isLink && typeof value === "string" && /^\s*https?:/i.test(value);
    return [[name, isWeb ? publicUrl(value) : nativeValue(value, describe, name)]];
  });
  return defined(Object.fromEntries(kept));
}
