import type { NativeEvent, Reply } from "../../features/predictions/index.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { deepestBody, isWithinDepth } from "../../kernel/storable-issues.ts";
import { finishReasons } from "./chat-answer.ts";
import { RelayedCalls } from "./chat-relayed-calls.ts";

export interface ChunkOptions {
  /** The client wants the usage chunk. */
  includesUsage: boolean;
  /** The client wants usage in every chunk, as some servers offer. */
  repeatsUsage: boolean;
}

interface Head {
  id: string;
  object: string;
  created: number;
  model: string;
}

type Chunk = Record<string, unknown>;

/** Serialising a deeper chunk may overflow the stack. */
const deepestChunk = deepestBody + 20;

/** Stands for the text of a repeated chunk. Other characters than ASCII would make every chunk slower to write. */
const mark = `text-${crypto.randomUUID()}`;

/**
 * Passes on the chunks of an upstream of the same protocol, with the model's name as the client knows it. Repairs what
 * clients cannot read: missing or changing fields of the head, empty finish reasons, colliding tool calls, misplaced usage.
 */
export class ChunkRelay {
  isUsed = false;
  readonly #head: Head;
  readonly #options: ChunkOptions;
  readonly #calls = new RelayedCalls();
  /** The parts around the text of chunks that differ in nothing else, and what the client gets instead. */
  #known: { before: string; after: string } | undefined;
  #written = { before: "", after: "" };
  #hasHead = false;
  #hasRole = false;
  #isFinished = false;
  /** Usage that the upstream sent together with a choice. */
  #usage: Chunk | undefined;
  #hasSentUsage = false;

  constructor(head: Head, options: ChunkOptions) {
    this.#head = { ...head };
    this.#options = options;
  }

  write({ data, around }: NativeEvent): string {
    this.isUsed = true;
    if (around) {
      const { before, text, after } = around;
      if (before !== this.#known?.before || after !== this.#known.after) this.#learn(before, after);
      return this.#written.before + text + this.#written.after;
    }
    // The last event is written when the prediction is charged. Some upstreams leave it out.
    if (data === "[DONE]") return "";
    const chunk: unknown = JSON.parse(data);
    if (!isWithinDepth(chunk, deepestChunk)) throw nestedTooDeeply();
    return isRecord(chunk) && !this.#isHidden(chunk) ? eventOf(this.#repaired(chunk)) : "";
  }

  /** What the upstream has left out. */
  end({ stop }: Pick<Reply, "stop">, usageChunk: string): string {
    const finish = this.#isFinished ? "" : this.#finishChunk(stop);
    if (!this.#options.includesUsage || this.#hasSentUsage) return finish;
    if (!this.#usage) return finish + usageChunk;
    return finish + eventOf({ ...this.#head, choices: [], usage: this.#usage });
  }

  #learn(before: string, after: string): void {
    this.#known = { before, after };
    const [start = "", end = ""] = eventOf(this.#repaired(JSON.parse(before + mark + after))).split(mark);
    this.#written = { before: start, after: end };
  }

  #isHidden({ choices, usage }: Chunk): boolean {
    const isOfUsage = isRecord(usage) && !(Array.isArray(choices) && choices.length > 0);
    if (isOfUsage) this.#hasSentUsage = true;
    return isOfUsage && !this.#options.includesUsage;
  }

  #repaired(chunk: Chunk): Chunk {
    const choices = Array.isArray(chunk.choices) ? chunk.choices : [];
    if (!this.#hasHead) this.#takeHead(chunk);
    const repaired = { ...chunk, ...this.#head, choices: choices.map((choice) => this.#choice(choice)) };
    return choices.length > 0 && "usage" in chunk ? this.#withoutUsage(repaired) : repaired;
  }

  /** All chunks have the id and time of the first one. */
  #takeHead({ id, created }: Chunk): void {
    this.#hasHead = true;
    if (typeof id === "string" && id !== "") this.#head.id = id;
    if (typeof created === "number" && created > 0) this.#head.created = created;
  }

  #withoutUsage({ usage, ...chunk }: Chunk): Chunk {
    if (!this.#options.includesUsage) return chunk;
    if (this.#options.repeatsUsage || !isRecord(usage)) return { ...chunk, usage };
    this.#usage = usage;
    return { ...chunk, usage: null };
  }

  #choice(choice: unknown): unknown {
    if (!isRecord(choice)) return choice;
    const delta = this.#delta(isRecord(choice.delta) ? choice.delta : {});
    return { index: 0, ...choice, delta, finish_reason: this.#reason(choice.finish_reason) };
  }

  #delta(delta: Chunk): Chunk {
    const role = this.#hasRole ? {} : { role: "assistant" };
    this.#hasRole = true;
    const calls = Array.isArray(delta.tool_calls) && { tool_calls: this.#calls.repaired(delta.tool_calls) };
    return { ...role, ...delta, ...calls };
  }

  /** Some servers end with `stop` after tool calls, and clients would not run them then. */
  #reason(given: unknown): unknown {
    if (given === undefined || given === null || given === "") return null;
    this.#isFinished = true;
    return given === "stop" && this.#calls.size > 0 ? "tool_calls" : given;
  }

  #finishChunk(stop: Reply["stop"]): string {
    const delta = this.#hasRole ? {} : { role: "assistant", content: "" };
    const usage = this.#options.includesUsage ? { usage: null } : {};
    const choices = [{ index: 0, delta, finish_reason: finishReasons[stop] }];
    return eventOf({ ...this.#head, choices, ...usage });
  }
}

function nestedTooDeeply(): Fault {
  return fault("downstream_service_error", "The service behind the model sent an answer that is nested too deeply.");
}

function eventOf(chunk: Chunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
