import { isRecord } from "../../../kernel/is-record.ts";
import { deepestBody, isWithinDepth } from "../../../kernel/storable-issues.ts";
import type { ChatCall, ChatResult, ToolCall } from "../chat.ts";
import { broken, UpstreamError } from "../upstream.ts";

/** A tool call whose arguments arrive as fragments of JSON text. */
export interface ArrivingToolCall {
  id: string;
  name: string;
  json: string;
  /** The answer reached its length limit within this call: some or all of its arguments may be missing. */
  isCut?: boolean;
}

/** Missing figures are counted when the answer has ended. */
export interface ReportedUsage {
  inputTokens?: number;
  outputTokens?: number;
  cachedTokens?: number;
  cacheWriteTokens?: number;
  googleUsage?: Record<string, unknown>;
}

/** Bounds the memory that an upstream can fill with text, reasoning and arguments. */
const longestAnswer = 8 * 1024 * 1024;

/** One answer of any protocol. Fragments are passed on at once and collected for the result. */
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

  addText(fragment: string): void | Promise<void> {
    if (fragment === "") return;
    this.#grow(fragment);
    this.text += fragment;
    this.delivered = true;
    return this.#call.onText?.(fragment);
  }

  addReasoning(fragment: string): void | Promise<void> {
    if (fragment === "") return;
    this.#grow(fragment);
    this.reasoning += fragment;
    if (!this.#call.onReasoning) return;
    this.delivered = true;
    return this.#call.onReasoning(fragment);
  }

  addArguments(call: ArrivingToolCall, fragment: string): void {
    this.#grow(fragment);
    call.json += fragment;
    // Some servers send the last fragment together with the finish reason.
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

  /** Everything that the upstream produced, for counting. */
  get produced(): string {
    return [this.reasoning, this.text, ...this.toolCalls.flatMap((call) => [call.name, call.json])].join("\n");
  }

  get stop(): ChatResult["stop"] {
    if (this.refused) return "refused";
    if (this.cutByLength) return "length";
    return this.toolCalls.length > 0 ? "tool_calls" : "end";
  }

  #grow(fragment: string): void {
    this.#length += fragment.length;
    if (this.#length > longestAnswer) throw broken(new Error("The upstream's answer is too long"));
  }
}

/** Replaces arguments that cannot be serialized. Not JSON, so that the model learns that they are invalid. */
const nestedTooDeeply = `[nested more than ${deepestBody} levels deep]`;

/** For arguments that arrive as a value, not as text. */
export function argumentsText(given: unknown): string {
  return isWithinDepth(given) ? JSON.stringify(given) : nestedTooDeeply;
}

export function finishedToolCall({ id, name, json, isCut = false }: ArrivingToolCall): ToolCall {
  return { id, name, arguments: argumentsOf(json, isCut) };
}

function argumentsOf(json: string, isCut: boolean): Record<string, unknown> {
  // Tools without parameters are often called without any text. In a cut answer the text may be missing.
  if (json.trim() === "" && !isCut) return {};
  try {
    const value: unknown = JSON.parse(json);
    if (isRecord(value) && isWithinDepth(value)) return value;
  } catch {
    // The run reports invalid arguments to the model.
  }
  return { __invalid: json };
}

export function tokens(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Throws if the data is not a JSON object. */
export function eventJson(data: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data);
    if (isRecord(value)) return value;
  } catch {
    // Reported below.
  }
  throw broken(new UpstreamError("The upstream sent an event that is not a JSON object", data.slice(0, 200)));
}
