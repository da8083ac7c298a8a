import type { ChatCall } from "../../../engines/models/chat.ts";

const bytesPerToken = 3;

/**
 * About how many tokens the next call of a run has. The first is counted; from then on only what was added since is
 * estimated, because counting the whole conversation before every call would cost more than the rest of a step. The
 * upstream may correct the estimate downwards only: the reservation follows from it, and an upstream that could raise
 * it would raise its own bill with every call.
 */
export class TokenEstimate {
  readonly #countTokens: (text: string) => Promise<number>;
  #asked = { bytes: 0, tokens: 0 };
  #known: { bytes: number; tokens: number } | undefined;

  constructor(countTokens: (text: string) => Promise<number>) {
    this.#countTokens = countTokens;
  }

  async of({ messages, tools, responseSchema }: Omit<ChatCall, "signal">): Promise<number> {
    const text = JSON.stringify([messages, tools, responseSchema]);
    const bytes = Buffer.byteLength(text);
    if (this.#known === undefined) this.#known = { bytes, tokens: await this.#countTokens(text) };
    const added = Math.max(0, bytes - this.#known.bytes);
    this.#asked = { bytes, tokens: this.#known.tokens + Math.ceil(added / bytesPerToken) };
    return this.#asked.tokens;
  }

  /** What the upstream counted for the call that was asked about last. */
  learn(inputTokens: number): void {
    const { bytes, tokens } = this.#asked;
    if (inputTokens > 0) this.#known = { bytes, tokens: Math.min(inputTokens, tokens) };
  }
}
