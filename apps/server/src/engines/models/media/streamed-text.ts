import { Interrupted, type ModelCall, readableText, type TokenUsage } from "../driver.ts";
import { countTokens, estimateTokens } from "../token-count.ts";
import { broken } from "../upstream.ts";
import { maxTextBytes } from "./call.ts";
import type { Cancelling } from "./cancel-upstream.ts";

/** The text of one streamed prediction. Fragments are passed on at once and collected for the result. */
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

  async add(fragment: string): Promise<void> {
    if (fragment === "") return;
    this.#text += fragment;
    if (this.#text.length > maxTextBytes) throw broken(new Error("The upstream's answer is too long"));
    await this.#call.onFragment(this.#field, fragment);
  }

  /** For upstreams that do not report usage. */
  async counted(count = countTokens): Promise<TokenUsage> {
    return {
      inputTokens: await count(readableText(this.#call.input)),
      outputTokens: await count(this.#text),
      estimated: true,
    };
  }

  /** The error to throw. An aborted prediction is charged for the tokens produced so far. */
  async failure(error: unknown, cancelling: Cancelling): Promise<unknown> {
    const { signal } = this.#call;
    if (!signal.aborted) return error;
    // The first count of a process blocks the event loop, so the cancel request must be sent before.
    await cancelling.answered();
    return new Interrupted(() => this.counted(estimateTokens), signal.reason);
  }
}
