import type { NativeEvent, TokenUsage, ToolCallPiece } from "../../features/predictions/index.ts";
import { isRecord } from "../../kernel/is-record.ts";
import type { ChatAnswered, ChatBegun, ChatEvents } from "../doors/chat-door.ts";
import type { DoorError } from "../doors/door-error.ts";
import { anthropicDialect } from "./anthropic-dialect.ts";
import { JsonEnd } from "./json-end.ts";
import { answerBlocks, headOf, stopOf, usageOf } from "./message-answer.ts";
import { ownSignature } from "./own-thoughts.ts";
import type { ShownThoughts } from "./read-options.ts";

/** How pieces of a block are written. */
const deltas = {
  text: `{"type":"text_delta","text":`,
  thinking: `{"type":"thinking_delta","thinking":`,
  tool_use: `{"type":"input_json_delta","partial_json":`,
} as const;

const deltaHead = `event: content_block_delta\ndata: {"type":"content_block_delta","index":`;

interface Block {
  type: keyof typeof deltas;
  /** As it starts, without its pieces. */
  start: Record<string, unknown>;
  /** Pieces that arrived before the block could start. */
  waiting: string;
  /** Only of tool calls. */
  json?: JsonEnd;
  isStopped?: boolean;
}

/**
 * Writes the events of one answer. Blocks are written one after another, in the order of their first pieces:
 *
 *   waiting ──all blocks before it have stopped──► open ──another block waits, and this one is complete──► stopped
 *
 * Pieces of parallel tool calls may arrive mixed, so a call stays open until its arguments are complete.
 */
export class MessageEvents implements ChatEvents {
  readonly #begun: ChatBegun;
  readonly #shown: ShownThoughts;
  /** The open block, then those that wait. */
  readonly #blocks: Block[] = [];
  readonly #calls = new Map<number, Block>();
  #open: Block | undefined;
  #index = 0;
  #isStarted = false;
  #isNative = false;

  constructor(begun: ChatBegun, shown: ShownThoughts) {
    this.#begun = begun;
    this.#shown = shown;
  }

  text(text: string): string {
    return text === "" ? "" : this.#add(this.#last("text", { type: "text", text: "" }), text);
  }

  reasoning(text: string): string {
    if (text === "" || this.#shown === "none") return "";
    return this.#add(this.#last("thinking", { type: "thinking", thinking: "", signature: "" }), text);
  }

  toolCall({ index, id, name, arguments: piece }: ToolCallPiece): string {
    let call = this.#calls.get(index);
    if (!call) {
      call = { type: "tool_use", start: { type: "tool_use", id, name, input: {} }, waiting: "", json: new JsonEnd() };
      this.#calls.set(index, call);
      this.#blocks.push(call);
    }
    call.json?.read(piece);
    // Text after the end of the arguments would make them invalid.
    return call.isStopped ? "" : this.#add(call, piece);
  }

  native({ name, data, around }: NativeEvent): string {
    this.#isNative = true;
    if (around) return eventOf(name ?? "content_block_delta", data);
    if (data === "[DONE]") return "";
    if (name !== undefined && name !== "message_start") return eventOf(name, data);
    const event: unknown = JSON.parse(data);
    if (!isRecord(event)) return "";
    // Clients ignore events without a name, which some servers send.
    const type = String(event.type).replace(/[\r\n]/g, "");
    if (type !== "message_start" || !isRecord(event.message)) return eventOf(type, data);
    return eventOf(type, JSON.stringify({ ...event, message: { ...event.message, model: this.#begun.modelName } }));
  }

  end(end: ChatAnswered): string {
    if (this.#isNative) return "";
    return this.#start() + this.#advance(true) + this.#close(end);
  }

  whole(end: ChatAnswered): string {
    const blocks = answerBlocks(end, this.#shown).map((block, index) => wholeBlock(block, index));
    return [this.#start(end.usage), ...blocks, this.#close(end)].join("");
  }

  failed(error: DoorError, requestId: string): string {
    return eventOf("error", JSON.stringify(anthropicDialect.body(error, requestId)));
  }

  /** The last block if it has this type, or a new one. */
  #last(type: "text" | "thinking", start: Record<string, unknown>): Block {
    const last = this.#blocks.at(-1);
    if (last?.type === type) return last;
    const block: Block = { type, start, waiting: "" };
    this.#blocks.push(block);
    return block;
  }

  #add(block: Block, piece: string): string {
    if (block === this.#open && this.#blocks.length === 1) return this.#delta(block, piece);
    const head = this.#start();
    if (block === this.#open) return head + this.#delta(block, piece) + this.#advance(false);
    block.waiting += piece;
    return head + this.#advance(false);
  }

  /** Stops the blocks that are complete and starts the next. */
  #advance(isEnd: boolean): string {
    let events = "";
    for (let block = this.#blocks[0]; block; block = this.#blocks[0]) {
      if (block !== this.#open) {
        this.#open = block;
        events += startOf(this.#index, block.start) + this.#delta(block, block.waiting);
        block.waiting = "";
      }
      const mayStop = this.#blocks.length > 1 && (block.json?.isReached ?? true);
      if (!isEnd && !mayStop) break;
      events += this.#stop(block);
    }
    return events;
  }

  #stop(block: Block): string {
    const signature = ownSignature(this.#begun.id);
    const signed = block.type === "thinking" ? deltaOf(this.#index, { type: "signature_delta", signature }) : "";
    const events = signed + stopEvent(this.#index);
    this.#blocks.shift();
    block.isStopped = true;
    this.#open = undefined;
    this.#index += 1;
    return events;
  }

  #delta({ type }: Block, piece: string): string {
    if (piece === "" || (type === "thinking" && this.#shown === "omitted")) return "";
    // Once a token, so written without an object.
    return `${deltaHead}${this.#index},"delta":${deltas[type]}${JSON.stringify(piece)}}}\n\n`;
  }

  #start(known: Omit<TokenUsage, "outputTokens"> = { inputTokens: this.#begun.inputTokens ?? 0 }): string {
    if (this.#isStarted) return "";
    this.#isStarted = true;
    const usage = usageOf({ ...known, outputTokens: 0 });
    const message = { ...headOf(this.#begun), content: [], stop_reason: null, stop_sequence: null, usage };
    return writtenEvent({ type: "message_start", message }) + writtenEvent({ type: "ping" });
  }

  #close({ reply, usage }: ChatAnswered): string {
    const delta = writtenEvent({ type: "message_delta", delta: stopOf(reply), usage: usageOf(usage) });
    return delta + writtenEvent({ type: "message_stop" });
  }
}

function eventOf(name: string, data: string): string {
  return `event: ${name}\ndata: ${data.includes("\n") ? data.replaceAll("\n", "\ndata: ") : data}\n\n`;
}

function writtenEvent(event: { type: string } & Record<string, unknown>): string {
  return eventOf(event.type, JSON.stringify(event));
}

function startOf(index: number, content_block: Record<string, unknown>): string {
  return writtenEvent({ type: "content_block_start", index, content_block });
}

function deltaOf(index: number, delta: Record<string, unknown>): string {
  return writtenEvent({ type: "content_block_delta", index, delta });
}

function stopEvent(index: number): string {
  return writtenEvent({ type: "content_block_stop", index });
}

/** Blocks of other types have no pieces. */
function wholeBlock(block: Record<string, unknown>, index: number): string {
  const { type } = block;
  if (type === "tool_use") {
    const { input, ...start } = block;
    const json = deltaOf(index, { type: "input_json_delta", partial_json: JSON.stringify(input) });
    return startOf(index, { ...start, input: {} }) + json + stopEvent(index);
  }
  if (type === "text") {
    const text = deltaOf(index, { type: "text_delta", text: block.text });
    return startOf(index, { ...block, text: "" }) + text + stopEvent(index);
  }
  if (type === "thinking") {
    const thought = block.thinking === "" ? "" : deltaOf(index, { type: "thinking_delta", thinking: block.thinking });
    const signed = deltaOf(index, { type: "signature_delta", signature: block.signature });
    return startOf(index, { type, thinking: "", signature: "" }) + thought + signed + stopEvent(index);
  }
  return startOf(index, block) + stopEvent(index);
}
