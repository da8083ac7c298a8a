import { basename } from "node:path";
import type { WorkerOptions } from "node:worker_threads";
import { fault } from "./errors.ts";
import { type JobEnd, JobThread } from "./job-thread.ts";

export interface JobThreads<Job, Result> {
  /** Rejects with `service_unavailable` when too many wait already, no thread can be started, or all is closed. */
  run(job: Job, signal?: AbortSignal): Promise<JobEnd<Result>>;
  close(): Promise<void>;
}

/** Told of threads that died of no fault of a job's. */
export type OnThreadTrouble = (text: string, error: Error) => void;

interface Waiting<Job, Result> {
  job: Job;
  signal: AbortSignal | undefined;
  /** Threads that were started for it and died before they were ready. */
  unstarted: number;
  resolve(end: JobEnd<Result>): void;
  reject(error: Error): void;
}

/** What a thread loads may be replaced under a running server; the second try finds the new one. */
const mostStarts = 2;

/**
 * A few threads for work that must be endable and may not hold up the event loop, first come, first served. A thread is
 * started when a job needs one, and kept; one that had to be ended is replaced by the next job. A job whose thread died
 * before it was ready is tried once more with another.
 */
export function createJobThreads<Job extends object, Result>(options: {
  script: URL;
  worker: WorkerOptions;
  /** For one job. */
  deadlineMs: number;
  threads: number;
  /** Who comes when so many wait already is refused, retryably. */
  maxWaiting: number;
  /** What is said then. */
  crowded: string;
  onTrouble?: OnThreadTrouble | undefined;
}): JobThreads<Job, Result> {
  const { onTrouble } = options;
  const name = basename(options.script.pathname);
  const threads = new Set<JobThread<Job, Result>>();
  const queue: Waiting<Job, Result>[] = [];
  let isClosed = false;

  function next(): void {
    while (queue.length > 0) {
      const isRoom = threads.size < options.threads;
      const thread = [...threads].find(({ isIdle }) => isIdle) ?? (isRoom ? start() : undefined);
      const waiting = thread && queue.shift();
      if (!waiting) return;
      if (thread instanceof Error) startAgain(waiting, thread);
      else void work(thread, waiting);
    }
  }

  async function work(thread: JobThread<Job, Result>, waiting: Waiting<Job, Result>): Promise<void> {
    const end = await thread.run(waiting.job, waiting.signal);
    if (typeof end === "object" && "unstarted" in end) startAgain(waiting, end.unstarted);
    else {
      if (typeof end === "object" && "failed" in end) onTrouble?.(`A thread of ${name} failed`, end.failed);
      waiting.resolve(end);
    }
    next();
  }

  /** Or an error, where the system gives no thread at all. */
  function start(): JobThread<Job, Result> | Error {
    const { script, worker, deadlineMs } = options;
    try {
      const thread = new JobThread<Job, Result>(script, worker, deadlineMs, () => threads.delete(thread));
      threads.add(thread);
      return thread;
    } catch (error) {
      return error as Error;
    }
  }

  function startAgain(waiting: Waiting<Job, Result>, cause: Error): void {
    onTrouble?.(`A thread of ${name} could not be started`, cause);
    waiting.unstarted++;
    if (isClosed) waiting.reject(shuttingDown());
    else if (waiting.unstarted < mostStarts) queue.unshift(waiting);
    else waiting.reject(fault("service_unavailable", "The thread that this needs could not be started"));
  }

  return {
    run: (job, signal) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(shuttingDown());
        if (queue.length >= options.maxWaiting) return reject(fault("service_unavailable", options.crowded));
        const leave = () => {
          const at = queue.indexOf(waiting);
          if (at === -1) return;
          queue.splice(at, 1);
          resolve("stopped");
        };
        signal?.addEventListener("abort", leave, { once: true });
        const waiting: Waiting<Job, Result> = {
          job,
          signal,
          unstarted: 0,
          resolve: (end) => {
            signal?.removeEventListener("abort", leave);
            resolve(end);
          },
          reject: (error) => {
            signal?.removeEventListener("abort", leave);
            reject(error);
          },
        };
        queue.push(waiting);
        next();
      }),
    async close() {
      isClosed = true;
      for (const { reject } of queue.splice(0)) reject(shuttingDown());
      await Promise.all([...threads].map((thread) => thread.end()));
    },
  };
}

function shuttingDown(): Error {
  return fault("service_unavailable", "The server is shutting down");
}
