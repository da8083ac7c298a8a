import type { ChatCall } from "../../../engines/models/chat.ts";

const bytesPerToken = 3;

/**
 * About how many tokens the next call of a run has. The first is counted; from then on the upstream itself has said how
 * many the conversation was, and only what was added since is estimated: counting it all again before every call would
 * cost more than the rest of a step.
 */
export class TokenEstimate {
  readonly #countTokens: (text: string) => Promise<number>;
  #asked = 0;
  #known: { bytes: number; tokens: number } | undefined;

  constructor(countTokens: (text: string) => Promise<number>) {
    this.#countTokens = countTokens;
  }

  async of({ messages, tools, responseSchema }: Omit<ChatCall, "signal">): Promise<number> {
    const text = JSON.stringify([messages, tools, responseSchema]);
    this.#asked = Buffer.byteLength(text);
    if (this.#known === undefined) this.#known = { bytes: this.#asked, tokens: await this.#countTokens(text) };
    const added = Math.max(0, this.#asked - this.#known.bytes);
    return this.#known.tokens + Math.ceil(added / bytesPerToken);
  }

  /** What the upstream counted for the call that was asked about last. */
  learn(inputTokens: number): void {
    if (inputTokens > 0) this.#known = { bytes: this.#asked, tokens: inputTokens };
  }
}
