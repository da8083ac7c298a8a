import { Worker } from "node:worker_threads";
import type { FromThread, SchemaJob } from "./protocol.ts";
import type { SchemaFault } from "./schemas.ts";

export type JobEnd = { faults: readonly SchemaFault[] } | "too slow" | "lost";

const graceMs = 20;

/**
 * One thread and the job it is at.
 *
 *   starting ──ready──► idle ──run──► busy ──answer──► idle
 *                                      └── deadline over | thread dies (out of memory) ──► ended
 *
 * The clock of a job starts when the thread takes it, not while the thread is loading its libraries.
 */
export class CheckingThread {
  readonly #worker: Worker;
  readonly #deadlineMs: number;
  readonly #whenEnded: () => void;
  readonly #ready: Promise<void>;
  #current: { id: number; resolve(end: JobEnd): void } | undefined;
  #lastId = 0;
  #hasEnded = false;

  constructor(deadlineMs: number, whenEnded: () => void) {
    this.#deadlineMs = deadlineMs;
    this.#whenEnded = whenEnded;
    this.#worker = new Worker(new URL("./schemas.worker.ts", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ready = promise;
    this.#worker.on("message", (message: FromThread) => {
      if ("ready" in message) resolve();
      else if (message.id === this.#current?.id) this.#settle({ faults: message.faults });
    });
    // "error" is followed by "exit", which does the rest.
    this.#worker.on("error", () => {});
    this.#worker.on("exit", () => {
      resolve();
      this.#end("lost");
    });
  }

  get isIdle(): boolean {
    return !this.#current && !this.#hasEnded;
  }

  run(job: Omit<SchemaJob, "id">): Promise<JobEnd> {
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<JobEnd>();
    this.#current = { id, resolve };
    this.#worker.ref();
    this.#ready.then(() => {
      if (this.#hasEnded) return;
      // Once more around the loop before the thread is ended: an answer may lie there, and it was the loop that was late.
      let timer = setTimeout(() => {
        timer = setTimeout(() => this.#end("too slow"), graceMs);
      }, this.#deadlineMs);
      promise.then(() => clearTimeout(timer));
      this.#worker.postMessage({ ...job, id } satisfies SchemaJob);
    });
    return promise;
  }

  async end(): Promise<void> {
    this.#end("lost");
    await this.#worker.terminate();
  }

  #end(how: JobEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    void this.#worker.terminate();
    this.#whenEnded();
    this.#settle(how);
  }

  #settle(end: JobEnd): void {
    const current = this.#current;
    this.#current = undefined;
    // A thread that waits for work must not keep the process alive.
    if (!this.#hasEnded) this.#worker.unref();
    current?.resolve(end);
  }
}
