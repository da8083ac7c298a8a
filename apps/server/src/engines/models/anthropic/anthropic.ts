import { isRecord } from "../../../kernel/is-record.ts";
import { usualAnswerTokens } from "../../../kernel/money.ts";
import type { ChatDriver } from "../chat.ts";
import type { ModelDriver } from "../driver.ts";
import {
  type ArrivingToolCall,
  argumentsText,
  eventJson,
  finishedToolCall,
  type TextAnswer,
  tokens,
} from "../text/answer.ts";
import { answerToolName, takeSubmittedAnswer, withAnswerTool } from "../text/answer-tool.ts";
import { createTextBackend, type TextBackendOptions, type TextProtocol } from "../text/backend.ts";
import { listOf } from "../text/folded-object.ts";
import type { TextRequest } from "../text/request.ts";
import type { StreamReader } from "../text/stream.ts";
import { objectParameters, restoreCalls, schemaOf } from "../text/tool-parameters.ts";
import { broken, joinUrl, UpstreamFailure } from "../upstream.ts";
import { type AnthropicOpaque, type Block, markForCache, writeMessages } from "./messages.ts";

export interface AnthropicOptions extends TextBackendOptions {
  url?: string | undefined;
}

const defaultUrl = "https://api.anthropic.com/v1";

/** The Messages API of Anthropic. */
export function createAnthropic(options: AnthropicOptions): ModelDriver & ChatDriver {
  const { model, key } = options;
  const protocol: TextProtocol = {
    key,
    // A forced tool usually makes the model follow the schema, but the API does not guarantee it.
    enforcesSchema: false,
    write: (request) => ({
      url: joinUrl(options.url ?? defaultUrl, "messages"),
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream",
        "anthropic-version": "2023-06-01",
        ...(key !== undefined && { "x-api-key": key }),
      },
      body: bodyOf(model, request),
    }),
    read: (answer, request) => new AnthropicReader(answer, request, key),
  };
  return createTextBackend(protocol, options);
}

function bodyOf(model: string, request: TextRequest): string {
  const { system, messages } = writeMessages(request.messages, request.images ?? []);
  const systemBlocks: Block[] = system === "" ? [] : [{ type: "text", text: system }];
  const { tools, toolChoice } = withAnswerTool(request);
  const toolBlocks: Block[] = tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    input_schema: objectParameters(schemaOf(tool, request)).schema,
  }));
  if (request.repeats) {
    markForCache(systemBlocks);
    markForCache(toolBlocks);
    markForCache(messages.at(-1)?.content);
  }
  return JSON.stringify({
    ...request.extra,
    model,
    messages,
    stream: true,
    max_tokens: request.maxTokens ?? usualAnswerTokens,
    // The API has no seed and no temperature above 1.
    temperature: request.temperature === undefined ? undefined : Math.min(request.temperature, 1),
    system: systemBlocks.length > 0 ? systemBlocks : undefined,
    ...(toolBlocks.length > 0 && { tools: toolBlocks, tool_choice: choiceOf(toolChoice) }),
  });
}

function choiceOf(choice: TextRequest["toolChoice"]): Record<string, string> | undefined {
  if (choice === undefined) return undefined;
  if (typeof choice === "object") return { type: "tool", name: choice.name };
  return { type: choice === "required" ? "any" : choice };
}

/** Servers that do not report the sum report cache writes by lifetime. */
function writtenByLifetime(creation: unknown): number | undefined {
  if (!isRecord(creation)) return undefined;
  return (tokens(creation.ephemeral_5m_input_tokens) ?? 0) + (tokens(creation.ephemeral_1h_input_tokens) ?? 0);
}

const statusOfError: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

class AnthropicReader implements StreamReader {
  complete = false;
  closed = false;
  pausedWith: AnthropicOpaque | undefined;
  readonly #answer: TextAnswer;
  readonly #request: TextRequest;
  readonly #key: string | undefined;
  readonly #blocks = new Map<unknown, Block>();
  readonly #calls = new Map<Block, ArrivingToolCall>();
  #isPaused = false;

  constructor(answer: TextAnswer, request: TextRequest, key: string | undefined) {
    this.#answer = answer;
    this.#request = request;
    this.#key = key;
  }

  get delivered(): boolean {
    return this.#answer.delivered;
  }

  onEvent({ data }: { data: string }): void | Promise<void> {
    const event = eventJson(data);
    switch (event.type) {
      case "content_block_delta":
        return this.#takeDelta(this.#blockAt(event.index), isRecord(event.delta) ? event.delta : {});
      case "content_block_start":
        return this.#startBlock(event.index, isRecord(event.content_block) ? event.content_block : {});
      case "message_start":
        if (isRecord(event.message)) this.#takeUsage(event.message.usage);
        return;
      case "message_delta":
        this.#takeUsage(event.usage, true);
        if (isRecord(event.delta)) this.#takeStop(event.delta.stop_reason);
        return;
      case "message_stop":
        this.complete = true;
        this.closed = true;
        return this.#finish();
      case "error":
        throw this.#failure(event.error);
      // Pings, ends of blocks and events of later versions are ignored.
    }
  }

  #startBlock(index: unknown, block: Block): void | Promise<void> {
    this.#blocks.set(index, block);
    if (block.type === "tool_use") {
      const call = { id: String(block.id), name: String(block.name), json: "" };
      this.#calls.set(block, call);
      // Servers that do not stream arguments send all of them here.
      if (isRecord(block.input) && Object.keys(block.input).length > 0) {
        this.#answer.addArguments(call, argumentsText(block.input));
      }
      this.#answer.toolCalls.push(call);
    }
    if (block.type === "text" && typeof block.text === "string") return this.#answer.addText(block.text);
  }

  #takeDelta(block: Block, delta: Record<string, unknown>): void | Promise<void> {
    if (typeof delta.text === "string") {
      block.text = String(block.text ?? "") + delta.text;
      return this.#answer.addText(delta.text);
    }
    if (typeof delta.thinking === "string") {
      block.thinking = String(block.thinking ?? "") + delta.thinking;
      return this.#answer.addReasoning(delta.thinking);
    }
    if (typeof delta.signature === "string") block.signature = String(block.signature ?? "") + delta.signature;
    if (isRecord(delta.citation)) block.citations = [...listOf(block.citations), delta.citation];
    if (typeof delta.partial_json !== "string") return;
    // Blocks of other types call a tool that the upstream runs itself.
    const call = this.#calls.get(block) ?? { id: String(block.id), name: String(block.name), json: "" };
    this.#calls.set(block, call);
    this.#answer.addArguments(call, delta.partial_json);
  }

  #blockAt(index: unknown): Block {
    const block = this.#blocks.get(index);
    if (!block) throw broken(new Error("The upstream sent a delta of a block that it had not started"));
    return block;
  }

  /** Anthropic's `input_tokens` exclude cache reads and writes; ours include them. */
  #takeUsage(usage: unknown, last = false): void {
    if (!isRecord(usage)) return;
    const { usage: known } = this.#answer;
    const fresh = tokens(usage.input_tokens);
    // The last event may omit the cache figures of the first one.
    const read = tokens(usage.cache_read_input_tokens) ?? known.cachedTokens ?? 0;
    const written =
      tokens(usage.cache_creation_input_tokens) ??
      writtenByLifetime(usage.cache_creation) ??
      known.cacheWriteTokens ??
      0;
    if (fresh !== undefined && fresh + read + written > 0) {
      known.inputTokens = fresh + read + written;
      known.cachedTokens = read;
      known.cacheWriteTokens = written;
    }
    // The first event counts only the start of the output.
    const output = tokens(usage.output_tokens);
    if (last && output !== undefined) known.outputTokens = output;
  }

  #takeStop(reason: unknown): void {
    if (reason === "refusal") this.#answer.refused = true;
    if (reason === "pause_turn") this.#isPaused = true;
    if (reason === "max_tokens" || reason === "model_context_window_exceeded") this.#answer.cutByLength = true;
  }

  #finish(): void | Promise<void> {
    restoreCalls(this.#answer.toolCalls, this.#request);
    for (const [block, call] of this.#calls) block.input = finishedToolCall(call).arguments;
    const isSent = (block: Block) =>
      block.type === "text" ? String(block.text ?? "").trim() !== "" : block.name !== answerToolName;
    const content = [...this.#blocks.values()].filter(isSent);
    const opaque = { protocol: "anthropic", content } satisfies AnthropicOpaque;
    if (content.some((block) => block.type === "thinking" || block.type === "redacted_thinking")) {
      this.#answer.opaque = opaque;
    }
    if (this.#isPaused) this.pausedWith = opaque;
    return takeSubmittedAnswer(this.#answer);
  }

  #failure(error: unknown): Error {
    const type = isRecord(error) ? String(error.type) : "";
    return new UpstreamFailure({
      status: statusOfError[type] ?? 500,
      body: JSON.stringify(error ?? null),
      key: this.#key,
    });
  }
}
