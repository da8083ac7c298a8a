import { isRecord } from "../../../kernel/is-record.ts";
import { deepestBody, isWithinDepth } from "../../../kernel/storable-issues.ts";
import type { ChatCall, ChatResult, ToolCall } from "../chat.ts";
import { broken, UpstreamSaid } from "../upstream.ts";

/** A tool call whose arguments arrive as pieces of JSON text. */
export interface ArrivingToolCall {
  id: string;
  name: string;
  json: string;
  /** The answer ended at its length limit while this call was arriving: it may lack its end, or all its arguments. */
  isCut?: boolean;
}

/** What an upstream reported. A missing figure is counted when the answer has ended. */
export interface ReportedUsage {
  inputTokens?: number;
  outputTokens?: number;
  cachedTokens?: number;
  cacheWriteTokens?: number;
  googleUsage?: Record<string, unknown>;
}

/** Of text, reasoning and arguments together: whoever answers for a model is not trusted with our memory. */
const longestAnswer = 8 * 1024 * 1024;

/** One answer as it arrives, whatever the protocol. Pieces are handed on at once and kept for the result. */
export class TextAnswer {
  text = "";
  reasoning = "";
  readonly toolCalls: ArrivingToolCall[] = [];
  readonly usage: ReportedUsage = {};
  opaque: unknown;
  refused = false;
  delivered = false;
  readonly #call: Pick<ChatCall, "onText" | "onReasoning">;
  #length = 0;
  #cutByLength = false;

  constructor(call: Pick<ChatCall, "onText" | "onReasoning">) {
    this.#call = call;
  }

  addText(piece: string): void | Promise<void> {
    if (piece === "") return;
    this.#grow(piece);
    this.text += piece;
    this.delivered = true;
    return this.#call.onText?.(piece);
  }

  addReasoning(piece: string): void | Promise<void> {
    if (piece === "") return;
    this.#grow(piece);
    this.reasoning += piece;
    if (!this.#call.onReasoning) return;
    this.delivered = true;
    return this.#call.onReasoning(piece);
  }

  addArguments(call: ArrivingToolCall, piece: string): void {
    this.#grow(piece);
    call.json += piece;
    // Some servers send the last piece together with the reason of the end.
    if (this.#cutByLength) call.isCut = true;
  }

  get cutByLength(): boolean {
    return this.#cutByLength;
  }

  set cutByLength(cut: boolean) {
    this.#cutByLength = cut;
    const arriving = this.toolCalls.at(-1);
    if (cut && arriving) arriving.isCut = true;
  }

  /** Everything that the upstream made, for counting. */
  get produced(): string {
    return [this.reasoning, this.text, ...this.toolCalls.flatMap((call) => [call.name, call.json])].join("\n");
  }

  get stop(): ChatResult["stop"] {
    if (this.refused) return "refused";
    if (this.cutByLength) return "length";
    return this.toolCalls.length > 0 ? "tool_calls" : "end";
  }

  #grow(piece: string): void {
    this.#length += piece.length;
    if (this.#length > longestAnswer) throw broken(new Error("The upstream's answer is too long"));
  }
}

/** Stands for arguments that nobody could write out; no JSON, so that they are told to be none. */
const nestedTooDeeply = `[nested more than ${deepestBody} levels deep]`;

/** Of arguments that come as a value, and not as pieces of its text. */
export function argumentsText(given: unknown): string {
  return isWithinDepth(given) ? JSON.stringify(given) : nestedTooDeeply;
}

export function finishedToolCall({ id, name, json, isCut = false }: ArrivingToolCall): ToolCall {
  return { id, name, arguments: argumentsOf(json, isCut) };
}

function argumentsOf(json: string, isCut: boolean): Record<string, unknown> {
  // A tool without parameters is often called with no text at all. In an answer that was cut there may have been more.
  if (json.trim() === "" && !isCut) return {};
  try {
    const value: unknown = JSON.parse(json);
    if (isRecord(value) && isWithinDepth(value)) return value;
  } catch {
    // Not JSON: told to the model by whoever runs the tools, as what is nested too deeply is.
  }
  return { __invalid: json };
}

/** A figure of an upstream's usage report, if it is one. */
export function tokens(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The JSON of one event; an upstream that sends anything else has failed. */
export function eventJson(data: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data);
    if (isRecord(value)) return value;
  } catch {
    // Told below.
  }
  throw broken(new UpstreamSaid("The upstream sent an event that is no JSON object", data.slice(0, 200)));
}
