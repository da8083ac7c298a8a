import { Interrupted, type ModelCall, readableText, type TokenUsage } from "../driver.ts";
import { countTokens, estimateTokens } from "../token-count.ts";
import { broken } from "../upstream.ts";
import { maxTextBytes } from "./call.ts";
import type { Cancelling } from "./cancel-upstream.ts";

/** The text of one streamed run, handed on piece by piece and kept for the stored result. */
export class StreamedText {
  readonly #call: ModelCall;
  readonly #field: string;
  #text = "";

  constructor(call: ModelCall, field: string) {
    this.#call = call;
    this.#field = field;
  }

  get text(): string {
    return this.#text;
  }

  async add(piece: string): Promise<void> {
    if (piece === "") return;
    this.#text += piece;
    if (this.#text.length > maxTextBytes) throw broken(new Error("The upstream does not come to an end"));
    await this.#call.onFragment(this.#field, piece);
  }

  /** For an upstream that reports no tokens. */
  async counted(count = countTokens): Promise<TokenUsage> {
    return {
      inputTokens: await count(readableText(this.#call.input)),
      outputTokens: await count(this.#text),
      estimated: true,
    };
  }

  /** What to throw for a failure: an aborted run is charged for what it used until then. */
  async failure(error: unknown, cancelling: Cancelling): Promise<unknown> {
    const { signal } = this.#call;
    if (!signal.aborted) return error;
    // The first count of a process holds the loop while its tables load: nothing may be left to send by then.
    await cancelling.told();
    return new Interrupted(() => this.counted(estimateTokens), signal.reason);
  }
}
