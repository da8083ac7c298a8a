import type { AgentSnapshot } from "@gantry/wire";
import type { Step } from "../run.ts";
import type { TextPiece } from "../text-pieces.rules.ts";
import { mayBeJson, type TextRole, textRole } from "./answer-text.rules.ts";

/** Receives the text of a run. A returned promise delays further text. */
export interface AnswerSink {
  onText(text: string): void | Promise<void>;
  onReasoning?: ((text: string) => void | Promise<void>) | undefined;
}

export interface AnswerSource {
  snapshot: Pick<AgentSnapshot, "instructions" | "output_schema">;
  /** Stored steps after this one, in order. */
  listSteps(after: number): Promise<readonly Pick<Step, "n" | "kind" | "message">[]>;
}

/** Between the texts of two calls. */
const blankLine = "\n\n";

/** One attempt at a call, as far as its pieces arrived. */
interface Attempt {
  callId: string;
  nextSeq: number;
  /** The answer so far; not kept once `isMatched`. */
  text: string;
  /** Its text continues the text that was passed on. */
  isMatched: boolean;
  /** A piece is missing, or the text differs from what was passed on. The rest follows when the step is stored. */
  isBroken: boolean;
}

/**
 * Passes on the text of a run as it is written. Pieces of the current call are passed on at once and in order:
 *
 *   live ──piece missing, or a retry that writes something else──► waits for the stored step
 *     └──────────────────step stored: its remaining text──────────────────┴──► live, next step
 *
 * Text beside tool calls stays sent, followed by a blank line. Calls are serialized: everything happens in the order of
 * arrival.
 */
export class AnswerReader {
  readonly #source: AnswerSource;
  readonly #sink: AnswerSink;
  /** The last step whose text is complete, and the last one that is not a summary. */
  #stored = 0;
  #last: Pick<Step, "message"> | undefined;
  #attempt: Attempt | undefined;
  /** What was passed on of the current call, and of the answer that it is part of. */
  #sent = "";
  #answer = "";
  #needsBlankLine = false;
  #hasThoughts = false;
  #thoughtsOf = "";
  #queue: Promise<void> = Promise.resolve();

  constructor(source: AnswerSource, sink: AnswerSink) {
    this.#source = source;
    this.#sink = sink;
  }

  /** A piece of the call that is being made. */
  take(piece: TextPiece): Promise<void> {
    return this.#inOrder(() => this.#take(piece));
  }

  /** Steps may have been stored. */
  look(): Promise<void> {
    return this.#inOrder(() => this.#readSteps());
  }

  /** The run is done: passes on the rest of its output. */
  finish(output: string): Promise<void> {
    return this.#inOrder(async () => {
      await this.#readSteps();
      await this.#passRest(output, this.#answer);
    });
  }

  #inOrder(work: () => Promise<void>): Promise<void> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => {});
    return result;
  }

  async #take(piece: TextPiece): Promise<void> {
    // A call is made after the steps before it were stored.
    if (piece.step > this.#stored + 1) await this.#readSteps();
    if (piece.step !== this.#stored + 1) return;
    const attempt = this.#attemptOf(piece);
    if (piece.seq !== attempt.nextSeq) attempt.isBroken = true;
    if (attempt.isBroken) return;
    attempt.nextSeq++;
    if (piece.kind === "reasoning") return this.#passThought(piece);
    if (attempt.isMatched) return this.#pass(piece.text);
    attempt.text += piece.text;
    if (mayBeJson(attempt.text) || this.#sent.startsWith(attempt.text)) return;
    attempt.isBroken = !attempt.text.startsWith(this.#sent);
    if (attempt.isBroken) return;
    attempt.isMatched = true;
    await this.#pass(attempt.text.slice(this.#sent.length));
    attempt.text = "";
  }

  #attemptOf({ callId }: TextPiece): Attempt {
    if (this.#attempt?.callId !== callId) {
      this.#attempt = { callId, nextSeq: 0, text: "", isMatched: false, isBroken: false };
    }
    return this.#attempt as Attempt;
  }

  async #readSteps(): Promise<void> {
    for (const step of await this.#source.listSteps(this.#stored)) {
      await this.#store(step, textRole(this.#source.snapshot, step.kind, this.#last));
      this.#stored = step.n;
      this.#attempt = undefined;
      if (step.kind !== "summary") this.#last = step;
    }
  }

  /** Passes on the rest of a call's text. JSON may become an output of another text, which `finish` passes on. */
  async #store({ message }: Pick<Step, "message">, role: TextRole): Promise<void> {
    const { text, toolCalls } = message;
    const isBesideCalls = toolCalls.length > 0;
    if (role === "answer" && (isBesideCalls || !mayBeJson(text))) await this.#passRest(text, this.#sent);
    this.#sent = "";
    if (!isBesideCalls) return;
    if (this.#answer.trim() !== "") this.#needsBlankLine = true;
    this.#answer = "";
  }

  /** What was sent cannot be taken back: a text that does not continue it is sent whole, after a blank line. */
  async #passRest(text: string, sent: string): Promise<void> {
    if (text.startsWith(sent)) return this.#pass(text.slice(sent.length));
    this.#needsBlankLine = true;
    await this.#pass(text);
  }

  async #pass(text: string): Promise<void> {
    if (text === "") return;
    const isSeparate = this.#needsBlankLine;
    if (isSeparate) this.#answer = "";
    this.#needsBlankLine = false;
    this.#sent += text;
    this.#answer += text;
    await this.#sink.onText(isSeparate ? blankLine + text : text);
  }

  async #passThought({ callId, text }: TextPiece): Promise<void> {
    const isSeparate = this.#hasThoughts && this.#thoughtsOf !== callId;
    this.#hasThoughts = true;
    this.#thoughtsOf = callId;
    await this.#sink.onReasoning?.(isSeparate ? blankLine + text : text);
  }
}
