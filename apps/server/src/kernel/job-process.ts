import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

export type ToProcess<Job> = { id: number; job: Job } | { cancel: number };
/** Ready once the libraries of the process are loaded, then one result per job. */
export type FromProcess<Result> = { ready: true } | { id: number; result: Result; residentBytes: number };

/** `died`: the process ended during the job, which may not be the cause. `unstarted`: the process never was ready. */
export type ProcessEnd<Result> =
  | { result: Result }
  | "too slow"
  | "stopped"
  | { died: Error; signal: NodeJS.Signals | null }
  | { unstarted: Error };

export interface ProcessOptions {
  script: URL;
  /** Flags of Node. */
  flags: readonly string[];
  /** The whole environment: the secrets of the server stay in its own process. */
  env: Readonly<Record<string, string>>;
}

interface ProcessEvents {
  /** After each result, with the memory of the process. */
  onResult(residentBytes: number): void;
  /** The last job has ended. */
  onIdle(): void;
  onEnd(): void;
  /** The process has ended although it was not meant to. */
  onTrouble(text: string, error: Error): void;
}

interface Running<Result> {
  resolve(end: ProcessEnd<Result>): void;
}

/** Before a job counts as slow: its result may be waiting because the event loop was late. */
const graceMs = 20;
const mostStartMs = 30_000;
const keptStderr = 4000;

/**
 * One process and its jobs, which run side by side.
 *
 *   starting ──ready──► open ──retire──► retired ──last job ends──► killed
 *      └── dies | takes too long ──► killed
 *
 * A process is always killed: ending it in order would wait for native code. The time limit of a job starts when the
 * process is ready. A job that exceeds it retires the process, so that other jobs end undisturbed.
 */
export class JobProcess<Job extends object, Result> {
  /** Rejects if the process dies before it is ready. */
  readonly ready: Promise<void>;
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #events: ProcessEvents;
  readonly #jobs = new Map<number, Running<Result>>();
  #lastId = 0;
  #isRetired = false;
  #isReady = false;
  #isMeantToEnd = false;
  #hasEnded = false;

  constructor({ script, flags, env }: ProcessOptions, events: ProcessEvents) {
    this.#name = basename(script.pathname);
    this.#events = events;
    this.#child = fork(fileURLToPath(script), {
      execArgv: [...flags],
      env,
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ready = promise;
    // Each job reports it.
    promise.catch(() => undefined);
    const starting = setTimeout(() => this.#child.kill("SIGKILL"), mostStartMs);
    this.#child.on("message", (message: FromProcess<Result>) => {
      if ("ready" in message) {
        clearTimeout(starting);
        this.#isReady = true;
        resolve();
        this.#holdLoop();
      } else this.#take(message);
    });
    let stderr = "";
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(-keptStderr);
    });
    const end = (error: Error, signal: NodeJS.Signals | null) => {
      clearTimeout(starting);
      if (!this.#isReady) reject(error);
      this.#end(error, signal);
    };
    // The system cannot create the process. "exit" may or may not follow.
    this.#child.on("error", (error) => this.#child.pid === undefined && end(error, null));
    this.#child.on("close", (code, signal) => {
      const how = signal ? `was ended by ${signal}` : `ended with code ${code}`;
      end(new Error(`The process ${how}${stderr === "" ? "" : `: ${stderr.trim()}`}`), signal);
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isIdle(): boolean {
    return this.#jobs.size === 0;
  }

  get isOpen(): boolean {
    return !this.#isRetired && !this.#hasEnded;
  }

  /** The signal asks the process to cancel the job; the job ends when the process has done so. */
  async run(job: Job, deadlineMs: number, signal?: AbortSignal): Promise<ProcessEnd<Result>> {
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<ProcessEnd<Result>>();
    this.#jobs.set(id, { resolve });
    this.#holdLoop();
    let timer: NodeJS.Timeout | undefined;
    const cancel = () => this.#send({ cancel: id });
    const begin = () => {
      if (this.#hasEnded) return;
      timer = setTimeout(() => {
        timer = setTimeout(() => this.#tooSlow(id), graceMs);
      }, deadlineMs);
      this.#send({ id, job });
      if (signal?.aborted) cancel();
      else signal?.addEventListener("abort", cancel, { once: true });
    };
    if (this.#isReady) begin();
    else this.ready.then(begin, () => undefined);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** Takes no more jobs and ends after the current ones. */
  retire(): void {
    this.#isRetired = true;
    if (this.isIdle) this.#kill();
  }

  /** Ends at once; its jobs are stopped. */
  async end(): Promise<void> {
    if (this.#hasEnded) return;
    const closed = once(this.#child, "close");
    this.#kill();
    for (const id of [...this.#jobs.keys()]) this.#settle(id, "stopped");
    this.#holdLoop("ref");
    await closed;
  }

  #send(message: ToProcess<Job>): void {
    // A process that cannot be reached is about to end, which settles its jobs.
    this.#child.send(message, () => undefined);
  }

  #take({ id, result, residentBytes }: { id: number; result: Result; residentBytes: number }): void {
    if (!this.#jobs.has(id)) return;
    this.#events.onResult(residentBytes);
    this.#settle(id, { result });
  }

  #tooSlow(id: number): void {
    this.#isRetired = true;
    this.#settle(id, "too slow");
  }

  #settle(id: number, end: ProcessEnd<Result>): void {
    const running = this.#jobs.get(id);
    this.#jobs.delete(id);
    running?.resolve(end);
    if (!this.isIdle) return;
    if (this.#isRetired) this.#kill();
    this.#holdLoop();
    this.#events.onIdle();
  }

  /** Only a process that works keeps the server alive. */
  #holdLoop(how: "ref" | "unref" = this.isIdle && this.#isReady ? "unref" : "ref"): void {
    const { channel, stderr } = this.#child;
    for (const handle of [this.#child, channel, stderr as unknown as NodeJS.RefCounted | null]) handle?.[how]();
  }

  #kill(): void {
    this.#isRetired = true;
    this.#isMeantToEnd = true;
    this.#child.kill("SIGKILL");
  }

  #end(error: Error, signal: NodeJS.Signals | null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#events.onEnd();
    const text = `The process of ${this.#name} ${this.#isReady ? "failed" : "could not be started"}`;
    if (!this.#isMeantToEnd) this.#events.onTrouble(text, error);
    const how = this.#isReady ? { died: error, signal } : { unstarted: error };
    for (const id of [...this.#jobs.keys()]) this.#settle(id, how);
  }
}
