import { Worker } from "node:worker_threads";
import type { FromThread, ProgramJob, ProgramLimits } from "./protocol.ts";
import type { SandboxResult } from "./sandbox.ts";

export type ProgramEnd = SandboxResult | "too slow" | "lost" | "stopped";

/**
 * One thread and the program it is at.
 *
 *   starting ──ready──► idle ──run──► busy ──answer──► idle
 *                                      └── time is over | stopped | thread dies (out of memory) ──► ended
 *
 * The clock of a program starts when the thread takes it, not while the thread is loading. It is the second one: the
 * program is stopped from inside after its processor time, where it lets itself be stopped.
 */
export class SandboxThread {
  readonly #worker: Worker;
  readonly #wallMs: number;
  readonly #whenEnded: () => void;
  readonly #ready: Promise<void>;
  #current: { id: number; resolve(end: ProgramEnd): void } | undefined;
  #lastId = 0;
  #hasEnded = false;

  constructor(limits: ProgramLimits, wallMs: number, whenEnded: () => void) {
    this.#wallMs = wallMs;
    this.#whenEnded = whenEnded;
    this.#worker = new Worker(new URL("./sandbox.worker.ts", import.meta.url), {
      workerData: limits,
      // A program sees nothing of the environment; neither does the thread that it runs in.
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ready = promise;
    this.#worker.on("message", (message: FromThread) => {
      if ("ready" in message) resolve();
      else if (message.id === this.#current?.id) this.#settle(message.result);
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

  run(job: Omit<ProgramJob, "id">, signal: AbortSignal): Promise<ProgramEnd> {
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<ProgramEnd>();
    this.#current = { id, resolve };
    this.#worker.ref();
    const stop = () => this.#end("stopped");
    signal.addEventListener("abort", stop, { once: true });
    let timer: NodeJS.Timeout | undefined;
    this.#ready.then(() => {
      if (this.#hasEnded) return;
      timer = setTimeout(() => this.#end("too slow"), this.#wallMs);
      this.#worker.postMessage({ ...job, id } satisfies ProgramJob);
    });
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    });
  }

  async end(): Promise<void> {
    this.#end("stopped");
    await this.#worker.terminate();
  }

  #end(how: ProgramEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    void this.#worker.terminate();
    this.#whenEnded();
    this.#settle(how);
  }

  #settle(end: ProgramEnd): void {
    const current = this.#current;
    this.#current = undefined;
    // A thread that waits for work must not keep the process alive.
    if (!this.#hasEnded) this.#worker.unref();
    current?.resolve(end);
  }
}
