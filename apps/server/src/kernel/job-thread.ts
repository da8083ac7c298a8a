import { Worker, type WorkerOptions } from "node:worker_threads";

/** What a thread is sent, beside the job itself. */
export type Numbered<Job> = Job & { id: number };

/** What a thread sends: that it has loaded its libraries, then one answer a job. */
export type FromThread<Result> = { ready: true } | { id: number; result: Result };

/**
 * `too slow`: its time was over. `out of memory`: the thread died of want of memory. `stopped`: nobody wants it any more.
 * `failed`: the thread died of something else, or the job could not be handed to it; which is nobody's fault but ours.
 */
export type JobEnd<Result> = { result: Result } | "too slow" | "out of memory" | "stopped" | { failed: Error };

/** `unstarted`: the thread died before it was ready for any job, which says nothing about this one. */
type ThreadEnd<Result> = JobEnd<Result> | { unstarted: Error };

/** Once more around the loop before a thread is ended: an answer may lie there, and it was the loop that was late. */
const graceMs = 20;

/**
 * One thread and the job it is at.
 *
 *   starting ──ready──► idle ──run──► busy ──answer──► idle
 *      └── thread dies ──► ended       └── time is over | stopped | thread dies ──► ended
 *
 * The clock of a job starts when the thread takes it, not while the thread is loading its libraries.
 */
export class JobThread<Job extends object, Result> {
  readonly #worker: Worker;
  readonly #deadlineMs: number;
  readonly #whenEnded: () => void;
  readonly #ready: Promise<void>;
  #current: { id: number; resolve(end: ThreadEnd<Result>): void } | undefined;
  #lastId = 0;
  #isReady = false;
  #hasEnded = false;

  constructor(script: URL, options: WorkerOptions, deadlineMs: number, whenEnded: () => void) {
    this.#deadlineMs = deadlineMs;
    this.#whenEnded = whenEnded;
    this.#worker = new Worker(script, options);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ready = promise;
    this.#worker.on("message", (message: FromThread<Result>) => {
      if ("ready" in message) {
        this.#isReady = true;
        resolve();
      } else if (message.id === this.#current?.id) this.#settle({ result: message.result });
    });
    // "error" is followed by "exit", which does the rest.
    let cause: Error | undefined;
    this.#worker.on("error", (error) => {
      cause = error instanceof Error ? error : new Error(String(error));
    });
    this.#worker.on("exit", (code) => {
      resolve();
      this.#end(this.#deathOf(cause ?? new Error(`The thread ended with code ${code}`)));
    });
  }

  get isIdle(): boolean {
    return !this.#current && !this.#hasEnded;
  }

  run(job: Job, signal: AbortSignal | undefined): Promise<ThreadEnd<Result>> {
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<ThreadEnd<Result>>();
    this.#current = { id, resolve };
    this.#worker.ref();
    const stop = () => this.#end("stopped");
    signal?.addEventListener("abort", stop, { once: true });
    let timer: NodeJS.Timeout | undefined;
    this.#ready.then(() => {
      if (this.#hasEnded) return;
      timer = setTimeout(() => {
        timer = setTimeout(() => this.#end("too slow"), graceMs);
      }, this.#deadlineMs);
      try {
        this.#worker.postMessage({ ...job, id } satisfies Numbered<Job>);
      } catch (error) {
        this.#settle({ failed: error as Error });
      }
    });
    return promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    });
  }

  async end(): Promise<void> {
    this.#end("stopped");
    await this.#worker.terminate();
  }

  #deathOf(cause: Error & { code?: unknown }): ThreadEnd<Result> {
    if (!this.#isReady) return { unstarted: cause };
    return cause.code === "ERR_WORKER_OUT_OF_MEMORY" ? "out of memory" : { failed: cause };
  }

  #end(how: ThreadEnd<Result>): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    void this.#worker.terminate();
    this.#whenEnded();
    this.#settle(how);
  }

  #settle(end: ThreadEnd<Result>): void {
    const current = this.#current;
    this.#current = undefined;
    // A thread that waits for work must not keep the process alive.
    if (!this.#hasEnded) this.#worker.unref();
    current?.resolve(end);
  }
}
