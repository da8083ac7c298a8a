import type { ChatMessage } from "../chat.ts";
import type { TextRequest } from "../text/request.ts";
import type { UpstreamFailure } from "../upstream.ts";

/** The parts of the protocol that a server supports, learned from its refusals and kept for later calls. */
export interface Adaptations {
  /** Newer OpenAI models require `max_completion_tokens`. */
  maxTokensField: "max_tokens" | "max_completion_tokens";
  reportsUsage: boolean;
  hasSchemas: boolean;
  hasJsonMode: boolean;
  /** Refused for their content; other schemas are still sent. */
  refusedSchemas: WeakSet<object>;
  /** Some servers cannot force a tool while the model thinks. */
  forcesTools: boolean;
  /** The server accepts the thoughts that it sent. */
  takesThoughts: boolean;
  /** Optional fields that the server does not know. */
  refusedHints: Set<string>;
}

/**
 * Fields without which an answer is still right. OpenAI's older models refuse the first, its thinking models the second,
 * and strict servers the others, which come in `extra`.
 */
const hints = ["reasoning_effort", "parallel_tool_calls", "prompt_cache_key", "service_tier", "verbosity"];

export function createAdaptations(maxTokensField: Adaptations["maxTokensField"] = "max_tokens"): Adaptations {
  return {
    maxTokensField,
    reportsUsage: true,
    hasSchemas: true,
    hasJsonMode: true,
    refusedSchemas: new WeakSet(),
    forcesTools: true,
    takesThoughts: true,
    refusedHints: new Set(),
  };
}

/** Servers word their refusals differently. */
const namesSchemas = /response[ _]?(?:format|schema)|json[ _](?:schema|mode)|structured[ _]outputs?/i;
const namesThoughts = /\breasoning(?:_content)?\b/i;
/** Excludes servers that report missing thoughts. */
const saysUnsupported = /unsupported|unknown|unrecognized|unexpected|extra|not (?:permitted|supported|allowed)/i;
const blamesSchema = /invalid (?:json )?schema|invalid json payload/i;

/** Each adaptation changes at most once, so a request is rewritten only a few times. */
export function learnFrom({ status, body }: UpstreamFailure, request: TextRequest, learned: Adaptations): void {
  if (status !== 400 && status !== 422) return;
  // A server may quote the request, so ignore field names that the caller's own content contains.
  const content = JSON.stringify(contentsOf(request));
  const names = (field: string) => body.includes(field) && !content.includes(field);
  if (names("max_completion_tokens")) learned.maxTokensField = "max_completion_tokens";
  if (names("stream_options")) learned.reportsUsage = false;
  if (namesThoughts.test(body) && !namesThoughts.test(content) && saysUnsupported.test(body))
    learned.takesThoughts = false;
  for (const hint of hints) if (names(hint)) learned.refusedHints.add(hint);
  const { responseSchema } = request;
  if (request.native) return;
  if (!responseSchema) {
    if (request.responseFormat === "json" && namesSchemas.test(body)) learned.hasJsonMode = false;
    return;
  }
  if (!bindsAnswer(request, learned)) {
    if (names("tool_choice")) learned.forcesTools = false;
  } else if (namesSchemas.test(body)) {
    if (blamesSchema.test(body)) learned.refusedSchemas.add(responseSchema);
    else learned.hasSchemas = false;
  }
}

function contentsOf({ native, messages, tools = [], extra = {} }: TextRequest): unknown {
  return native ? [native.body.messages, native.body.tools] : [messages.map(contentOf), tools, without(extra, hints)];
}

/** The fields that are not among the names. */
export function without(fields: Readonly<Record<string, unknown>>, names: Iterable<string>): Record<string, unknown> {
  const dropped = new Set(names);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !dropped.has(name)));
}

function contentOf(message: ChatMessage): unknown {
  return message.role === "assistant" ? [message.text, message.toolCalls] : message.content;
}

/** True if the server is asked to enforce the response schema. */
export function bindsAnswer({ responseSchema }: TextRequest, learned: Adaptations): boolean {
  return responseSchema !== undefined && learned.hasSchemas && !learned.refusedSchemas.has(responseSchema);
}
