import { type Transferable, Worker, type WorkerOptions } from "node:worker_threads";

export type Numbered<Job> = Job & { id: number };

/** Messages of a thread: ready once its libraries are loaded, then one result per job. */
export type FromThread<Result> = { ready: true } | { id: number; result: Result };

/** `stopped`: the caller aborted. `failed`: the thread died for another reason or could not receive the job. */
export type JobEnd<Result> = { result: Result } | "too slow" | "out of memory" | "stopped" | { failed: Error };

/** `unstarted`: the thread died before it was ready, so the job may be retried. */
type ThreadEnd<Result> = JobEnd<Result> | { unstarted: Error };

/** Of one job, besides its values. */
export interface JobOptions {
  /** Sent to the thread without a copy. */
  transfer?: readonly Transferable[];
  /** Instead of the thread's time limit. */
  deadlineMs?: number;
}

/** Before a thread is ended for being slow: its result may be waiting because the event loop was late. */
const graceMs = 20;

/**
 * One thread and its current job.
 *
 *   starting ──ready──► idle ──run──► busy ──answer──► idle
 *      └── thread dies ──► ended       └── time limit | stopped | thread dies ──► ended
 *
 * The time limit of a job starts when the thread is ready, not while it loads its libraries.
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
    // "error" is followed by "exit", which ends the thread.
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

  run(job: Job, signal: AbortSignal | undefined, options: JobOptions = {}): Promise<ThreadEnd<Result>> {
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
      }, options.deadlineMs ?? this.#deadlineMs);
      try {
        this.#worker.postMessage({ ...job, id } satisfies Numbered<Job>, options.transfer);
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
    // An idle thread must not keep the process alive.
    if (!this.#hasEnded) this.#worker.unref();
    current?.resolve(end);
  }
}
