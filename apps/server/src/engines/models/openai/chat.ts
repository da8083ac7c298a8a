import { isRecord } from "../../../kernel/is-record.ts";
import type { ChatDriver } from "../chat.ts";
import type { ModelDriver } from "../driver.ts";
import { argumentsText, eventJson, type ReportedUsage, type TextAnswer, tokens } from "../text/answer.ts";
import { takeSubmittedAnswer, withAnswerTool } from "../text/answer-tool.ts";
import { createTextBackend, type TextBackendOptions, type TextProtocol } from "../text/backend.ts";
import { RepeatedEvent } from "../text/repeated-event.ts";
import type { TextRequest } from "../text/request.ts";
import type { StreamReader } from "../text/stream.ts";
import { restoreCalls } from "../text/tool-parameters.ts";
import { joinUrl, masked, refusedContent, UpstreamFailure } from "../upstream.ts";
import { bindsAnswer, createAdaptations, learnFrom } from "./chat-adaptations.ts";
import { isStrict, messagesOf, toolFields } from "./chat-messages.ts";
import { type OpenAiChatOpaque, readContent, serverMark, thoughtFields } from "./chat-thoughts.ts";

export interface OpenAiChatOptions extends TextBackendOptions {
  /** The base URL, without `/chat/completions`. */
  url: string;
  /** Newer OpenAI models require `max_completion_tokens`, which is also learned from a refusal. */
  maxTokensField?: "max_tokens" | "max_completion_tokens";
}

/** OpenAI and compatible servers: vLLM, llama.cpp, Ollama, LiteLLM and others. */
export function createOpenAiChat(options: OpenAiChatOptions): ModelDriver & ChatDriver {
  const { model, key } = options;
  const learned = createAdaptations(options.maxTokensField);
  const server = serverMark(options.url, model);

  function bodyOf(request: TextRequest): string {
    return JSON.stringify({
      ...request.extra,
      model,
      messages: messagesOf(request.messages, request.images ?? [], learned.takesThoughts ? server : undefined),
      stream: true,
      stream_options: learned.reportsUsage ? { include_usage: true } : undefined,
      [learned.maxTokensField]: request.maxTokens,
      temperature: request.temperature,
      seed: request.seed,
      ...answerFields(request),
    });
  }

  function answerFields(request: TextRequest): Record<string, unknown> {
    const { responseSchema: schema } = request;
    if (schema === undefined) return toolFields(request, request);
    if (bindsAnswer(request, learned)) {
      const json_schema = { name: "answer", schema, strict: isStrict(schema) };
      return { ...toolFields(request, request), response_format: { type: "json_schema", json_schema } };
    }
    const { tools, toolChoice } = withAnswerTool(request);
    return toolFields({ tools, toolChoice: learned.forcesTools ? toolChoice : "auto" }, request);
  }

  const protocol: TextProtocol = {
    key,
    // Many compatible servers accept a schema and ignore it.
    enforcesSchema: false,
    write: (request) => ({
      url: joinUrl(options.url, "chat/completions"),
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream",
        "idempotency-key": request.id,
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: bodyOf(request),
      explain: (status, body) => (status === 400 && namesRefusal(body) ? refusal(body, key) : undefined),
    }),
    read: (answer, request) => new OpenAiReader(answer, request, { key, server }),
    adapt: (failure, request) => learnFrom(failure, request, learned),
  };
  return createTextBackend(protocol, options);
}

const refusalCode = /"(?:code|type)"\s*:\s*"(?:content_filter|content_policy_violation|moderation_blocked)"/;

function namesRefusal(body: string): boolean {
  return refusalCode.test(body);
}

function refusal(body: string, key: string | undefined) {
  return refusedContent(new UpstreamFailure({ status: 400, body, key }));
}

class OpenAiReader implements StreamReader {
  complete = false;
  closed = false;
  readonly #answer: TextAnswer;
  readonly #request: TextRequest;
  readonly #key: string | undefined;
  readonly #server: string;
  /** Thoughts are sent back in the field in which they arrived. */
  #thoughtField: OpenAiChatOpaque["field"] | undefined;
  #thoughts = "";
  #isClosed = false;
  /** The upstream's index of each call. */
  readonly #indexes: unknown[] = [];
  readonly #repeated = new RepeatedEvent((data) => onlyText(eventJson(data)));

  constructor(answer: TextAnswer, request: TextRequest, own: { key: string | undefined; server: string }) {
    this.#answer = answer;
    this.#request = request;
    this.#key = own.key;
    this.#server = own.server;
  }

  get delivered(): boolean {
    return this.#answer.delivered;
  }

  onEvent({ data }: { data: string }): void | Promise<void> {
    if (data === "[DONE]") {
      this.closed = true;
      this.complete = true;
      return this.#close();
    }
    const repeated = this.#repeated.read(data);
    if (repeated !== undefined) return this.#answer.addText(repeated);
    const chunk = eventJson(data);
    const text = onlyText(chunk);
    if (text !== undefined) {
      this.#repeated.learn(data, text);
      return this.#answer.addText(text);
    }
    if (chunk.error) throw this.#failure(chunk.error);
    if (isRecord(chunk.usage)) Object.assign(this.#answer.usage, usageOf(chunk.usage));
    // The last chunk has usage and no choice.
    const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!isRecord(choice)) return;
    if (typeof choice.finish_reason === "string" && choice.finish_reason !== "") this.#finish(choice.finish_reason);
    const pause = isRecord(choice.delta) ? this.#takeDelta(choice.delta) : undefined;
    // Some servers send an empty reason with every chunk.
    if (!choice.finish_reason) return pause;
    return pause ? pause.then(() => this.#close()) : this.#close();
  }

  /** Called at the finish reason, and again at `[DONE]`. */
  #close(): void | Promise<void> {
    const { toolCalls } = this.#answer;
    if (!this.#isClosed) restoreCalls(toolCalls, this.#request);
    this.#isClosed = true;
    const pause = takeSubmittedAnswer(this.#answer);
    if (toolCalls.length > 0 && this.#thoughtField) {
      const [server, field, text] = [this.#server, this.#thoughtField, this.#thoughts];
      this.#answer.opaque = { protocol: "openai-chat", server, field, text } satisfies OpenAiChatOpaque;
    }
    return pause;
  }

  #takeDelta(delta: Record<string, unknown>): void | Promise<void> {
    if (typeof delta.refusal === "string" && delta.refusal !== "") this.#answer.refused = true;
    if (Array.isArray(delta.tool_calls)) for (const part of delta.tool_calls) this.#takeToolCall(part);
    const { text, thought: inContent } = readContent(delta.content);
    const thought = this.#keptThought(delta) + inContent;
    const pause = this.#answer.addReasoning(thought);
    return pause ? pause.then(() => this.#answer.addText(text)) : this.#answer.addText(text);
  }

  #keptThought(delta: Record<string, unknown>): string {
    const field = thoughtFields.find((name) => typeof delta[name] === "string" && delta[name] !== "");
    if (!field) return "";
    this.#thoughtField ??= field;
    this.#thoughts += String(delta[field]);
    return String(delta[field]);
  }

  #takeToolCall(part: unknown): void {
    if (!isRecord(part)) return;
    const { toolCalls } = this.#answer;
    const given = isRecord(part.function) ? part.function : {};
    const id = typeof part.id === "string" && part.id !== "" ? part.id : undefined;
    // Some servers send no index: a new id starts a new call, and a part without an id continues the last one.
    const index =
      part.index !== undefined
        ? this.#indexes.indexOf(part.index)
        : id === undefined
          ? toolCalls.length - 1
          : toolCalls.findIndex((one) => one.id === id);
    let call = toolCalls[index];
    if (!call) {
      call = { id: id ?? `call_${crypto.randomUUID()}`, name: "", json: "" };
      toolCalls.push(call);
      this.#indexes.push(part.index);
    }
    if (typeof given.name === "string" && call.name === "") call.name = given.name;
    if (typeof given.arguments === "string") this.#answer.addArguments(call, given.arguments);
    else if (isRecord(given.arguments)) this.#answer.addArguments(call, argumentsText(given.arguments));
  }

  #finish(reason: string): void {
    this.complete = true;
    if (reason === "length") this.#answer.cutByLength = true;
    if (reason === "content_filter") this.#answer.refused = true;
  }

  #failure(error: unknown): Error {
    const body = masked(JSON.stringify(error), this.#key);
    if (namesRefusal(body)) return refusal(body, this.#key);
    const codes = isRecord(error) ? [error.code, error.status, error.status_code].map(Number) : [];
    const status = codes.find((code) => code >= 400 && code <= 599) ?? 500;
    return new UpstreamFailure({ status, body, key: this.#key });
  }
}

/** The text of a chunk that contains nothing else. */
function onlyText(chunk: Record<string, unknown>): string | undefined {
  if (chunk.error || isRecord(chunk.usage) || !Array.isArray(chunk.choices)) return undefined;
  const choice: unknown = chunk.choices[0];
  if (!isRecord(choice) || typeof choice.finish_reason === "string" || !isRecord(choice.delta)) return undefined;
  const { content, tool_calls, refusal, reasoning_content, reasoning } = choice.delta;
  if (tool_calls || refusal || reasoning_content || reasoning) return undefined;
  return typeof content === "string" ? content : undefined;
}

function usageOf(usage: Record<string, unknown>): ReportedUsage {
  const inputTokens = tokens(usage.prompt_tokens);
  const completion = tokens(usage.completion_tokens);
  const details = isRecord(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const cachedTokens = tokens(details.cached_tokens) ?? tokens(usage.prompt_cache_hit_tokens);
  // OpenAI does not report cache writes; gateways to other vendors do, under different names.
  const cacheWriteTokens =
    tokens(details.cache_write_tokens) ??
    tokens(details.cache_creation_tokens) ??
    tokens(usage.cache_creation_input_tokens) ??
    tokens(usage.cache_write_tokens);
  const completionDetails = isRecord(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const reasoning = tokens(completionDetails.reasoning_tokens) ?? 0;
  // Reasoning is part of the completion unless the total shows that the server counts it separately.
  const apart = usage.total_tokens === (inputTokens ?? 0) + (completion ?? 0) + reasoning ? reasoning : 0;
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(completion !== undefined && { outputTokens: completion + apart }),
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
  };
}
