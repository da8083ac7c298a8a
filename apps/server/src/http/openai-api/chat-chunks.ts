import type { NativeEvent, TokenUsage, ToolCallPiece } from "../../features/predictions/index.ts";
import type { ChatAnswered, ChatBegun, ChatEvents } from "../doors/chat-door.ts";
import type { DoorError } from "../doors/door-error.ts";
import { finishReasons, usageOf } from "./chat-answer.ts";
import { type ChunkOptions, ChunkRelay } from "./chat-relay.ts";
import { openaiError } from "./openai-dialect.ts";

const lastEvent = "data: [DONE]\n\n";

/**
 * The chunks of a streamed completion:
 *
 *   role ──► (content | reasoning_content | tool_calls)* ──► finish_reason ──► usage, if asked for ──► [DONE]
 *                                                    └─────► error
 *
 * Everything around a text is the same in all chunks and built once.
 */
export class ChatChunks implements ChatEvents {
  readonly #options: ChunkOptions;
  readonly #relay: ChunkRelay;
  readonly #head: string;
  readonly #before: string;
  readonly #usage: string;
  readonly #after: string;
  readonly #aroundText: { before: string; after: string };
  readonly #calls = new Set<number>();
  #isBegun = false;

  constructor(begun: ChatBegun, options: ChunkOptions) {
    const { id, modelName, createdAt } = begun;
    const head = {
      id: `chatcmpl-${id}`,
      object: "chat.completion.chunk",
      created: Math.floor(createdAt.getTime() / 1000),
      model: modelName,
    };
    this.#options = options;
    this.#relay = new ChunkRelay(head, options);
    this.#head = `data: ${JSON.stringify(head).slice(0, -1)},"choices":[`;
    this.#before = `${this.#head}{"index":0,"delta":`;
    this.#usage = options.includesUsage ? ',"usage":null' : "";
    this.#after = `,"finish_reason":null}]${this.#usage}}\n\n`;
    this.#aroundText = { before: flat(`${this.#before}{"content":`), after: flat(`}${this.#after}`) };
  }

  text(text: string): string {
    const { before, after } = this.#aroundText;
    const chunk = before + JSON.stringify(text) + after;
    return this.#isBegun ? chunk : this.#begin('""') + chunk;
  }

  reasoning(text: string): string {
    const chunk = `${this.#before}{"reasoning_content":${JSON.stringify(text)}}${this.#after}`;
    return this.#isBegun ? chunk : this.#begin("null") + chunk;
  }

  toolCall({ index, id, name, arguments: piece }: ToolCallPiece): string {
    const isNew = !this.#calls.has(index);
    this.#calls.add(index);
    const call = isNew
      ? { index, id, type: "function", function: { name, arguments: piece } }
      : { index, function: { arguments: piece } };
    const chunk = `${this.#before}{"tool_calls":[${JSON.stringify(call)}]}${this.#after}`;
    return this.#isBegun ? chunk : this.#begin("null") + chunk;
  }

  native(event: NativeEvent): string {
    this.#isBegun = true;
    return this.#relay.write(event);
  }

  end({ reply, usage }: ChatAnswered): string {
    if (this.#relay.isUsed) return this.#relay.end(reply, this.#usageChunk(usage)) + lastEvent;
    const begin = this.#isBegun ? "" : this.#begin('""');
    const reason = finishReasons[reply.stop];
    const finish = `${this.#before}{},"finish_reason":"${reason}"}]${this.#usage}}\n\n`;
    return begin + finish + (this.#options.includesUsage ? this.#usageChunk(usage) : "") + lastEvent;
  }

  failed(error: DoorError): string {
    return `data: ${JSON.stringify({ error: openaiError(error) })}\n\n`;
  }

  #begin(content: '""' | "null"): string {
    this.#isBegun = true;
    return `${this.#before}{"role":"assistant","content":${content}}${this.#after}`;
  }

  #usageChunk(usage: TokenUsage): string {
    return `${this.#head}],"usage":${JSON.stringify(usageOf(usage))}}\n\n`;
  }
}

/** A string that was put together is a tree of its parts, and each chunk that contains it would be slower to write. */
function flat(text: string): string {
  return Buffer.from(text).toString();
}
