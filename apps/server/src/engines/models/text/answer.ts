import { isRecord } from "../../../kernel/is-record.ts";
import { deepestBody, isWithinDepth } from "../../../kernel/storable-issues.ts";
import type { ChatCall, ChatResult, ToolCall } from "../chat.ts";
import { broken, UpstreamError } from "../upstream.ts";
import { answerToolName } from "./answer-tool.ts";
import { after, inOrder, type Pause } from "./pause.ts";
import { type Restore, restoredJson } from "./tool-parameters.ts";

/** A tool call whose arguments arrive as fragments of JSON text. */
export interface ArrivingToolCall {
  id: string;
  name: string;
  json: string;
  /** The answer reached its length limit within this call: some or all of its arguments may be missing. */
  isCut?: boolean;
  /** Converts the complete arguments to the tool's own schema. Until then they are not passed on. */
  restore?: Restore | undefined;
}

/** Missing figures are counted when the answer has ended. */
export interface ReportedUsage {
  inputTokens?: number;
  outputTokens?: number;
  cachedTokens?: number;
  cacheWriteTokens?: number;
  googleUsage?: Record<string, unknown>;
}

/** Bounds the memory that an upstream can fill with text, reasoning and calls. */
const longestAnswer = 8 * 1024 * 1024;
const mostCalls = 1024;

type Receiver = Pick<ChatCall, "onText" | "onReasoning" | "onToolCall" | "onBegun" | "responseSchema">;

/** One answer of any protocol. Fragments are passed on at once and collected for the result. */
export class TextAnswer {
  text = "";
  reasoning = "";
  readonly toolCalls: ArrivingToolCall[] = [];
  readonly usage: ReportedUsage = {};
  opaque: unknown;
  refused = false;
  /** The stop text that ended the answer. Empty if the upstream does not name it. */
  stopSequence: string | undefined;
  delivered = false;
  readonly #call: Receiver;
  /** Calls that were passed on, in order, with the length of their arguments so far. */
  readonly #shown = new Map<ArrivingToolCall, { index: number; length: number }>();
  #length = 0;
  #cutByLength = false;

  constructor(call: Receiver) {
    this.#call = call;
  }

  addText(fragment: string): Pause {
    if (fragment === "") return;
    this.#grow(fragment);
    this.text += fragment;
    this.delivered = true;
    return this.#call.onText?.(fragment);
  }

  addReasoning(fragment: string): Pause {
    if (fragment === "") return;
    this.#grow(fragment);
    this.reasoning += fragment;
    if (!this.#call.onReasoning) return;
    this.delivered = true;
    return this.#call.onReasoning(fragment);
  }

  startCall(call: ArrivingToolCall): Pause {
    this.#grow(call.id + call.name);
    if (this.toolCalls.length >= mostCalls) throw broken(new Error("The upstream's answer has too many tool calls"));
    this.toolCalls.push(call);
    return this.#show(call);
  }

  /** For servers that send the name after the id. */
  nameCall(call: ArrivingToolCall, { name, restore }: Pick<ArrivingToolCall, "name" | "restore">): void {
    this.#grow(name);
    call.name = name;
    call.restore = restore;
  }

  addArguments(call: ArrivingToolCall, fragment: string): Pause {
    this.#grow(fragment);
    call.json += fragment;
    // Some servers send the last fragment together with the finish reason.
    if (this.#cutByLength) call.isCut = true;
    return this.toolCalls.includes(call) ? this.#show(call) : undefined;
  }

  /** Restores and passes on all arguments, and takes the submitted answer. May be called again if more arrives. */
  finishCalls(): Pause {
    for (const call of this.toolCalls) {
      if (call.restore) call.json = restoredJson(call.json, call.restore);
      call.restore = undefined;
      // Tools without parameters are often called without any text, which clients cannot parse.
      if (call.json.trim() === "" && !call.isCut) call.json = "{}";
    }
    const pause = inOrder(this.toolCalls, (call) => this.#show(call));
    return after(pause, () => this.#takeSubmitted());
  }

  /** A call is passed on once its name is known. The answer tool is not a tool of the caller. */
  #show(call: ArrivingToolCall): Pause {
    const { onToolCall } = this.#call;
    if (!onToolCall || call.name === "" || this.#isAnswer(call)) return;
    this.delivered = true;
    const { id, name, json } = call;
    let shown = this.#shown.get(call);
    let pause: Pause | undefined;
    if (!shown) {
      shown = { index: this.#shown.size, length: 0 };
      this.#shown.set(call, shown);
      pause = onToolCall({ index: shown.index, id, name, arguments: "" });
    }
    const piece = call.restore ? "" : json.slice(shown.length);
    if (piece === "") return pause;
    shown.length = json.length;
    const { index } = shown;
    return after(pause, () => onToolCall({ index, id, name, arguments: piece }));
  }

  #isAnswer({ name }: ArrivingToolCall): boolean {
    return name === answerToolName && this.#call.responseSchema !== undefined;
  }

  /** The arguments of the answer tool become the answer, unless other tools were called too. */
  #takeSubmitted(): Pause {
    const { toolCalls } = this;
    const submitted = toolCalls.find((call) => this.#isAnswer(call));
    if (!submitted) return;
    toolCalls.splice(0, toolCalls.length, ...toolCalls.filter((call) => !this.#isAnswer(call)));
    if (toolCalls.length > 0) return;
    // Text before the submitted answer counts as reasoning.
    this.reasoning += this.text;
    this.text = "";
    return this.addText(submitted.json);
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
    if (this.toolCalls.length > 0) return "tool_calls";
    return this.stopSequence === undefined ? "end" : "stop_sequence";
  }

  #grow(fragment: string): void {
    if (this.#length === 0) this.#call.onBegun?.();
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
