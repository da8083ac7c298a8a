import { takeHandedIn, withAnswerTool } from "./answer-tool.ts";
import type { ChatDriver, ChatMessage } from "./chat.ts";
import type { ModelDriver } from "./driver.ts";
import { bindsAnswer, createAdaptations, learnFrom } from "./openai-chat-adaptations.ts";
import { RepeatedEvent } from "./repeated-event.ts";
import { eventJson, isObject, type ReportedUsage, type TextAnswer, tokens } from "./text-answer.ts";
import { createTextBackend, type TextBackendOptions, type TextProtocol } from "./text-backend.ts";
import type { InlineImage, TextRequest } from "./text-request.ts";
import { joinUrl, masked, refusedContent, UpstreamFailure } from "./upstream.ts";
import type { StreamReader } from "./upstream-stream.ts";

export interface OpenAiChatOptions extends TextBackendOptions {
  /** The base before `/chat/completions`. */
  url: string;
  /** Newer OpenAI models want the other name; found out by itself where the server says so. */
  maxTokensField?: "max_tokens" | "max_completion_tokens";
}

/** OpenAI and the many servers that speak its chat protocol: vLLM, llama.cpp, Ollama, LiteLLM, … */
export function createOpenAiChat(options: OpenAiChatOptions): ModelDriver & ChatDriver {
  const { model, key } = options;
  const learned = createAdaptations(options.maxTokensField);

  function bodyOf(request: TextRequest): string {
    return JSON.stringify({
      ...request.extra,
      model,
      messages: messagesOf(request.messages, request.images ?? []),
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
    if (schema === undefined) return toolFields(request);
    if (bindsAnswer(request, learned)) {
      const json_schema = { name: "answer", schema, strict: isStrict(schema) };
      return { ...toolFields(request), response_format: { type: "json_schema", json_schema } };
    }
    const { tools, toolChoice } = withAnswerTool(request);
    return toolFields({ tools, toolChoice: learned.forcesTools ? toolChoice : "auto" });
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
    read: (answer) => new OpenAiReader(answer, key),
    adapt: (failure, request) => learnFrom(failure, request, learned),
  };
  return createTextBackend(protocol, options);
}

function messagesOf(messages: readonly ChatMessage[], images: readonly InlineImage[]): unknown[] {
  const written = messages.map((message): Record<string, unknown> => {
    switch (message.role) {
      case "assistant":
        return {
          role: "assistant",
          content: message.text === "" && message.toolCalls.length > 0 ? null : message.text,
          tool_calls:
            message.toolCalls.length === 0
              ? undefined
              : message.toolCalls.map((call) => ({
                  id: call.id,
                  type: "function",
                  function: { name: call.name, arguments: JSON.stringify(call.arguments) },
                })),
        };
      case "tool":
        return { role: "tool", tool_call_id: message.callId, content: message.content };
      default:
        return { role: message.role, content: message.content };
    }
  });
  const last = written.findLast((message) => message.role === "user");
  if (last && images.length > 0) {
    const text = last.content === "" ? [] : [{ type: "text", text: last.content }];
    const pictures = images.map((image) => ({
      type: "image_url",
      image_url: { url: `data:${image.contentType};base64,${image.base64}` },
    }));
    last.content = [...text, ...pictures];
  }
  return written;
}

function toolFields({ tools, toolChoice }: Pick<TextRequest, "tools" | "toolChoice">): Record<string, unknown> {
  if (!tools || tools.length === 0) return {};
  return {
    tools: tools.map((tool) => ({ type: "function", function: { ...tool } })),
    tool_choice: typeof toolChoice === "object" ? { type: "function", function: toolChoice } : toolChoice,
  };
}

/** OpenAI refuses a strict schema unless every object closes itself and requires all of its properties. */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (!isObject(schema)) return true;
  if (isObject(schema.properties)) {
    const required = Array.isArray(schema.required) ? schema.required : [];
    if (schema.additionalProperties !== false) return false;
    if (!Object.keys(schema.properties).every((name) => required.includes(name))) return false;
    if (!Object.values(schema.properties).every(isStrict)) return false;
  } else if (schema.type === "object") return false;
  return [schema.items, schema.anyOf, ...Object.values(isObject(schema.$defs) ? schema.$defs : {})].every(isStrict);
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
  readonly #key: string | undefined;
  /** Places of the calls in the upstream's numbering. */
  readonly #places: unknown[] = [];
  readonly #repeated = new RepeatedEvent((data) => onlyText(eventJson(data)));

  constructor(answer: TextAnswer, key: string | undefined) {
    this.#answer = answer;
    this.#key = key;
  }

  get delivered(): boolean {
    return this.#answer.delivered;
  }

  onEvent({ data }: { data: string }): void | Promise<void> {
    if (data === "[DONE]") {
      this.closed = true;
      this.complete = true;
      return takeHandedIn(this.#answer);
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
    if (isObject(chunk.usage)) Object.assign(this.#answer.usage, usageOf(chunk.usage));
    // The last chunk carries usage and no choice.
    const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!isObject(choice)) return;
    if (typeof choice.finish_reason === "string") this.#finish(choice.finish_reason);
    const pause = isObject(choice.delta) ? this.#takeDelta(choice.delta) : undefined;
    // Some servers send an empty reason with every piece.
    if (!choice.finish_reason) return pause;
    return pause ? pause.then(() => takeHandedIn(this.#answer)) : takeHandedIn(this.#answer);
  }

  #takeDelta(delta: Record<string, unknown>): void | Promise<void> {
    if (typeof delta.refusal === "string" && delta.refusal !== "") this.#answer.refused = true;
    if (Array.isArray(delta.tool_calls)) for (const piece of delta.tool_calls) this.#takeToolCall(piece);
    const thought = delta.reasoning_content ?? delta.reasoning;
    const pause = typeof thought === "string" ? this.#answer.addReasoning(thought) : undefined;
    if (typeof delta.content !== "string") return pause;
    const { content } = delta;
    return pause ? pause.then(() => this.#answer.addText(content)) : this.#answer.addText(content);
  }

  #takeToolCall(piece: unknown): void {
    if (!isObject(piece)) return;
    const { toolCalls } = this.#answer;
    const given = isObject(piece.function) ? piece.function : {};
    const id = typeof piece.id === "string" && piece.id !== "" ? piece.id : undefined;
    // Some servers number nothing: there a new id is a new call, and a piece without one goes on with the last.
    const place =
      piece.index !== undefined
        ? this.#places.indexOf(piece.index)
        : id === undefined
          ? toolCalls.length - 1
          : toolCalls.findIndex((one) => one.id === id);
    let call = toolCalls[place];
    if (!call) {
      call = { id: id ?? `call_${crypto.randomUUID()}`, name: "", json: "" };
      toolCalls.push(call);
      this.#places.push(piece.index);
    }
    if (typeof given.name === "string" && call.name === "") call.name = given.name;
    if (typeof given.arguments === "string") this.#answer.addArguments(call, given.arguments);
    else if (isObject(given.arguments)) this.#answer.addArguments(call, JSON.stringify(given.arguments));
  }

  #finish(reason: string): void {
    this.complete = true;
    if (reason === "length") this.#answer.cutByLength = true;
    if (reason === "content_filter") this.#answer.refused = true;
  }

  #failure(error: unknown): Error {
    const body = masked(JSON.stringify(error), this.#key);
    if (namesRefusal(body)) return refusal(body, this.#key);
    const told = isObject(error) ? [error.code, error.status, error.status_code].map(Number) : [];
    const status = told.find((code) => code >= 400 && code <= 599) ?? 500;
    return new UpstreamFailure({ status, body, key: this.#key });
  }
}

/** The text of a chunk that carries one and means nothing else. */
function onlyText(chunk: Record<string, unknown>): string | undefined {
  if (chunk.error || isObject(chunk.usage) || !Array.isArray(chunk.choices)) return undefined;
  const choice: unknown = chunk.choices[0];
  if (!isObject(choice) || typeof choice.finish_reason === "string" || !isObject(choice.delta)) return undefined;
  const { content, tool_calls, refusal, reasoning_content, reasoning } = choice.delta;
  if (tool_calls || refusal || reasoning_content || reasoning) return undefined;
  return typeof content === "string" ? content : undefined;
}

function usageOf(usage: Record<string, unknown>): ReportedUsage {
  const inputTokens = tokens(usage.prompt_tokens);
  const completion = tokens(usage.completion_tokens);
  const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const cachedTokens = tokens(details.cached_tokens) ?? tokens(usage.prompt_cache_hit_tokens);
  const made = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const reasoning = tokens(made.reasoning_tokens) ?? 0;
  // Reasoning is part of the completion, except where the total shows that the server counts it apart.
  const apart = usage.total_tokens === (inputTokens ?? 0) + (completion ?? 0) + reasoning ? reasoning : 0;
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(completion !== undefined && { outputTokens: completion + apart }),
    ...(cachedTokens !== undefined && { cachedTokens }),
  };
}
