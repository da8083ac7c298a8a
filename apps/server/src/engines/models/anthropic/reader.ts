import { isRecord } from "../../../kernel/is-record.ts";
import type { Mask } from "../mask.ts";
import {
  type ArrivingToolCall,
  argumentsText,
  eventJson,
  finishedToolCall,
  type TextAnswer,
  tokens,
} from "../text/answer.ts";
import { answerToolName } from "../text/answer-tool.ts";
import { listOf } from "../text/folded-object.ts";
import { after, type Pause } from "../text/pause.ts";
import { type Repeated, RepeatedEvent } from "../text/repeated-event.ts";
import type { TextRequest } from "../text/request.ts";
import type { StreamReader } from "../text/stream.ts";
import { restoreOf } from "../text/tool-parameters.ts";
import { broken, UpstreamFailure } from "../upstream.ts";
import type { AnthropicOpaque, Block } from "./messages.ts";

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

export class AnthropicReader implements StreamReader {
  complete = false;
  closed = false;
  pausedWith: AnthropicOpaque | undefined;
  textWithin: Repeated | undefined;
  readonly #answer: TextAnswer;
  readonly #request: TextRequest;
  readonly #mask: Mask;
  readonly #server: string;
  readonly #blocks = new Map<unknown, Block>();
  readonly #calls = new Map<Block, ArrivingToolCall>();
  readonly #repeated = new RepeatedEvent((data) => onlyText(eventJson(data)));
  /** The block of repeated events. */
  #repeatedBlock: Block = {};
  #isPaused = false;

  constructor(answer: TextAnswer, request: TextRequest, mask: Mask, server: string) {
    this.#answer = answer;
    this.#request = request;
    this.#mask = mask;
    this.#server = server;
  }

  get delivered(): boolean {
    return this.#answer.delivered;
  }

  onEvent({ data }: { data: string }): Pause {
    const repeated = this.#repeated.read(data);
    this.textWithin = repeated;
    if (repeated) return this.#takeText(this.#repeatedBlock, repeated.value);
    const event = eventJson(data);
    const text = onlyText(event);
    if (text !== undefined && this.#repeated.learn(data, text)) this.#repeatedBlock = this.#blockAt(event.index);
    return this.#takeEvent(event);
  }

  /** A whole message is a stream of whole blocks. */
  onWhole(body: Record<string, unknown>): void {
    if (body.type === "error") throw this.#failure(body.error);
    for (const [index, block] of listOf(body.content).entries()) {
      if (isRecord(block)) void this.#startBlock(index, { ...block });
    }
    void this.#takeEvent({ type: "message_delta", delta: body, usage: body.usage });
    if (typeof body.stop_reason === "string") void this.#takeEvent({ type: "message_stop" });
  }

  #takeEvent(event: Record<string, unknown>): Pause {
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
        if (isRecord(event.delta)) this.#takeStop(event.delta.stop_reason, event.delta.stop_sequence);
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

  #startBlock(index: unknown, block: Block): Pause {
    this.#blocks.set(index, block);
    if (block.type === "text" && typeof block.text === "string") return this.#answer.addText(block.text);
    if (block.type === "thinking" && typeof block.thinking === "string") {
      return this.#answer.addReasoning(block.thinking);
    }
    if (block.type !== "tool_use") return;
    const name = String(block.name);
    const call = { id: String(block.id), name, json: "", restore: restoreOf(name, this.#request) };
    this.#calls.set(block, call);
    // Servers that do not stream arguments send all of them here.
    const isWhole = isRecord(block.input) && Object.keys(block.input).length > 0;
    const pause = this.#answer.startCall(call);
    return isWhole ? after(pause, () => this.#answer.addArguments(call, argumentsText(block.input))) : pause;
  }

  #takeText(block: Block, text: string): Pause {
    block.text = String(block.text ?? "") + text;
    return this.#answer.addText(text);
  }

  #takeDelta(block: Block, delta: Record<string, unknown>): Pause {
    if (typeof delta.text === "string") return this.#takeText(block, delta.text);
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
    return this.#answer.addArguments(call, delta.partial_json);
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

  #takeStop(reason: unknown, stopText: unknown): void {
    if (reason === "refusal") this.#answer.refused = true;
    if (reason === "pause_turn") this.#isPaused = true;
    if (reason === "max_tokens" || reason === "model_context_window_exceeded") this.#answer.cutByLength = true;
    if (reason === "stop_sequence") this.#answer.stopSequence = typeof stopText === "string" ? stopText : "";
  }

  #finish(): Pause {
    const pause = this.#answer.finishCalls();
    for (const [block, call] of this.#calls) block.input = finishedToolCall(call).arguments;
    const isSent = (block: Block) =>
      block.type === "text" ? String(block.text ?? "").trim() !== "" : block.name !== answerToolName;
    const content = [...this.#blocks.values()].filter(isSent);
    const opaque = { protocol: "anthropic", server: this.#server, content } satisfies AnthropicOpaque;
    if (content.some((block) => block.type === "thinking" || block.type === "redacted_thinking")) {
      this.#answer.opaque = opaque;
    }
    if (this.#isPaused) this.pausedWith = opaque;
    return pause;
  }

  #failure(error: unknown): Error {
    const type = isRecord(error) ? String(error.type) : "";
    return new UpstreamFailure({
      status: statusOfError[type] ?? 500,
      body: JSON.stringify(error ?? null),
      mask: this.#mask,
    });
  }
}

/** The text of an event that contains nothing else. */
function onlyText({ type, delta }: Record<string, unknown>): string | undefined {
  if (type !== "content_block_delta" || !isRecord(delta) || delta.type !== "text_delta") return undefined;
  return typeof delta.text === "string" ? delta.text : undefined;
}

/** Servers that do not report the sum report cache writes by lifetime. */
function writtenByLifetime(creation: unknown): number | undefined {
  if (!isRecord(creation)) return undefined;
  return (tokens(creation.ephemeral_5m_input_tokens) ?? 0) + (tokens(creation.ephemeral_1h_input_tokens) ?? 0);
}
