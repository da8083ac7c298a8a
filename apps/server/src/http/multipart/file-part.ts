import { Readable } from "node:stream";
import type { MultipartFile, OnFile } from "./form.ts";

/** A file part on its way to a receiver that may be slower than the client, stop early or fail. */
export class FilePart<T> {
  readonly #stream: Readable;
  readonly #received: Promise<T>;
  #wake: (() => void) | undefined;
  #isReceiverDone = false;
  #failure: { error: unknown } | undefined;

  constructor(file: Omit<MultipartFile, "body">, onFile: OnFile<T>) {
    const wake = () => this.#wake?.();
    this.#stream = new Readable({
      read: wake,
      destroy(error, callback) {
        wake();
        callback(error);
      },
    });
    // The receiver gets the error from its own reads; without a listener it would end the process.
    this.#stream.on("error", () => {});
    this.#received = onFile({ ...file, body: this.#stream });
    this.#received.then(
      () => this.#settled(),
      (error: unknown) => this.#settled({ error }),
    );
  }

  /**
   * Resolves when the receiver can take more; undefined if it can now. After it has stopped reading, waits for its
   * result; on success the rest is dropped.
   */
  feed(chunk: Buffer): Promise<void> | undefined {
    if (this.#isReceiverDone || (!this.#stream.destroyed && this.#stream.push(chunk))) return this.#failed();
    return new Promise<void>((resolve) => {
      this.#wake = resolve;
    }).then(() => this.#failed());
  }

  #failed(): undefined {
    if (this.#failure) throw this.#failure.error;
  }

  finish(): Promise<T> {
    if (!this.#stream.destroyed) this.#stream.push(null);
    return this.#received;
  }

  /** Ends the stream with the error and waits until the receiver has cleaned up. */
  async cancel(error: unknown): Promise<void> {
    this.interrupt(error);
    await this.#received.catch(() => {});
  }

  interrupt(error: unknown): void {
    this.#stream.destroy(error instanceof Error ? error : new Error("Reading was stopped", { cause: error }));
  }

  #settled(failure?: { error: unknown }): void {
    this.#failure = failure;
    this.#isReceiverDone = true;
    this.#wake?.();
  }
}
