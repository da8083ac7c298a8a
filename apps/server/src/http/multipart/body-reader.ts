import type { IncomingMessage } from "node:http";
import { type Fault, fault } from "../../kernel/errors.ts";

/**
 * The bytes of a request, piece by piece. A client that disconnects is a fault, not an end; the front listener ends
 * slow ones.
 */
export class BodyReader {
  readonly #request: IncomingMessage;
  readonly #signal: AbortSignal | undefined;
  readonly #chunks: Buffer[] = [];
  #maxAhead = Number.POSITIVE_INFINITY;
  #isEnded = false;
  #failure: { error: unknown } | undefined;
  readonly isStreaming = true;
  /**
   * Receives the bytes that arrive during a wait, so that a piece of a long body costs no promise. Returns whether it
   * can take more; otherwise the wait ends without a piece.
   */
  take: ((chunk: Buffer) => boolean) | undefined;
  /** Set during a wait for bytes. */
  #wake: (() => void) | undefined;
  /** Called once, as soon as no more bytes can come. */
  onFailure: ((error: unknown) => void) | undefined;

  constructor(request: IncomingMessage, options: { signal?: AbortSignal | undefined } = {}) {
    this.#request = request;
    this.#signal = options.signal;
    this.#signal?.addEventListener("abort", this.#onAbort, { once: true });
    request.on("data", this.#onData);
    request.on("end", this.#onEnd);
    request.on("error", this.#onClose);
    request.on("close", this.#onClose);
    if (this.#signal?.aborted) this.#onAbort();
    else if (request.readableEnded) this.#onEnd();
    else if (request.destroyed) this.#onClose();
  }

  /**
   * The next piece; undefined at the end, and empty if `take` received it. A few pieces are read ahead; then the client
   * has to wait.
   */
  async more(): Promise<Buffer | undefined> {
    this.#maxAhead = 4;
    for (;;) {
      if (this.#failure) throw this.#failure.error;
      const chunk = this.#chunks.shift();
      if (chunk) return chunk;
      if (this.#isEnded) return undefined;
      if (this.#request.isPaused()) this.#request.resume();
      await this.#wait();
    }
  }

  /** For a body whose length is known to be small. */
  async readAll(): Promise<Buffer> {
    this.#request.resume();
    while (!this.#isEnded && !this.#failure) await this.#wait();
    if (this.#failure) throw this.#failure.error;
    const [only] = this.#chunks;
    return this.#chunks.length === 1 && only ? only : Buffer.concat(this.#chunks);
  }

  release(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#request.off("data", this.#onData);
    this.#request.off("end", this.#onEnd);
    this.#request.off("error", this.#onClose);
    this.#request.off("close", this.#onClose);
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #awake(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#wake && this.take) {
      if (!this.take(chunk)) this.#hand(nothing);
    } else {
      this.#hand(chunk);
    }
  };

  #hand(chunk: Buffer): void {
    if (this.#chunks.push(chunk) >= this.#maxAhead) this.#request.pause();
    this.#awake();
  }

  readonly #onEnd = (): void => {
    this.#isEnded = true;
    this.#awake();
  };

  readonly #onClose = (): void => {
    if (!this.#isEnded) this.#fail(malformedBody("The connection closed before the body was complete"));
  };

  readonly #onAbort = (): void => this.#fail(this.#signal?.reason);

  #fail(error: unknown): void {
    if (this.#failure) return;
    this.#failure = { error };
    this.onFailure?.(error);
    this.#awake();
  }
}

const nothing = Buffer.alloc(0);

export function malformedBody(msg: string): Fault {
  return fault("multipart_invalid", msg);
}
