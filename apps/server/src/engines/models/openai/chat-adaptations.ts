import { isRecord } from "../../../kernel/is-record.ts";
import type { ChatMessage } from "../chat.ts";
import { listOf } from "../text/folded-object.ts";
import { refusesField, refusesValue } from "../text/refusals.rules.ts";
import type { TextRequest } from "../text/request.ts";
import type { UpstreamFailure } from "../upstream.ts";
import { thoughtFields } from "./chat-thoughts.ts";

const limitFields = ["max_tokens", "max_completion_tokens"] as const;
type LimitField = (typeof limitFields)[number];

/** The parts of the protocol that a server supports, learned from its refusals and kept for later calls. */
export interface Adaptations {
  /** Newer OpenAI models require `max_completion_tokens`, and other servers do not know it. */
  maxTokensField: LimitField;
  refusedLimits: Set<LimitField>;
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

export function createAdaptations(maxTokensField: LimitField = "max_tokens"): Adaptations {
  return {
    maxTokensField,
    refusedLimits: new Set(),
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
const blamesSchema = /invalid (?:json )?schema|invalid json payload/i;
/** OpenAI requires the word "json" in the messages. */
const blamesPrompt = /must contain the word/i;

/**
 * Each adaptation changes at most once, and the name of the limit at most twice, so a request is rewritten only a few
 * times. All callers of the model share what is learned, so a refusal of what one of them has added is not learned.
 */
export function learnFrom(
  { status, body }: UpstreamFailure,
  request: TextRequest,
  sentBody: string,
  learned: Adaptations,
): void {
  if (status !== 400 && status !== 422) return;
  const sent = JSON.parse(sentBody) as Record<string, unknown>;
  // A server may quote the request, so ignore field names that the caller's own content contains.
  const content = JSON.stringify(contentsOf(request));
  const names = (field: string) => body.includes(field) && !content.includes(field);
  const refuses = (field: string) => names(field) && refusesField(body, field);
  const refusedLimit = refusedLimitOf(body, sent, names);
  if (refusedLimit) renameLimit(refusedLimit, learned);
  if (names("stream_options") && asksOnlyForUsage(sent.stream_options)) learned.reportsUsage = false;
  if (request.native) return;
  const messages = listOf(sent.messages).filter(isRecord);
  const thoughts = thoughtFields.filter((field) => messages.some((message) => field in message));
  if (thoughts.some(refuses)) learned.takesThoughts = false;
  for (const hint of hints) if (hint in sent && refuses(hint)) learned.refusedHints.add(hint);
  learnAnswer(body, request, names("tool_choice"), learned);
}

/** A request with both names is the mistake of its caller. */
function refusedLimitOf(
  body: string,
  sent: Record<string, unknown>,
  names: (field: string) => boolean,
): LimitField | undefined {
  const [field, second] = limitFields.filter((one) => one in sent);
  if (!field || second || !names("max_completion_tokens")) return undefined;
  // A server that requires the newer name mentions it.
  const isRefused = field === "max_tokens" ? !refusesValue(body) : refusesField(body, field);
  return isRefused ? field : undefined;
}

/** A server that refuses both names keeps the last one. */
function renameLimit(refused: LimitField, learned: Adaptations): void {
  const other = refused === "max_tokens" ? "max_completion_tokens" : "max_tokens";
  if (learned.refusedLimits.has(other)) return;
  learned.refusedLimits.add(refused);
  learned.maxTokensField = other;
}

function asksOnlyForUsage(options: unknown): boolean {
  return isRecord(options) && Object.keys(options).every((name) => name === "include_usage");
}

function learnAnswer(body: string, request: TextRequest, namesToolChoice: boolean, learned: Adaptations): void {
  const { responseSchema } = request;
  const isRefused = namesSchemas.test(body) && !blamesPrompt.test(body);
  if (!responseSchema) {
    if (request.responseFormat === "json" && isRefused) learned.hasJsonMode = false;
  } else if (!bindsAnswer(request, learned)) {
    if (namesToolChoice) learned.forcesTools = false;
  } else if (isRefused) {
    if (blamesSchema.test(body)) learned.refusedSchemas.add(responseSchema);
    else learned.hasSchemas = false;
  }
}

/** Everything in a request that its caller has chosen. */
function contentsOf({ native, messages, tools = [], stop = [], responseSchema, extra = {} }: TextRequest): unknown {
  if (!native) {
    return [messages.map(contentOf), tools, stop, responseSchema, without(extra, hints), Object.values(extra)];
  }
  const { stream_options, ...body } = without(native.body, limitFields);
  return [body, isRecord(stream_options) && Object.entries(without(stream_options, ["include_usage"]))];
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
