import { basename } from "node:path";
import type { WorkerOptions } from "node:worker_threads";
import { fault } from "./errors.ts";
import { type JobEnd, type JobOptions, JobThread } from "./job-thread.ts";

export interface JobThreads<Job, Result> {
  /** Rejects with `service_unavailable` if too many jobs wait, no thread can be started, or the pool is closed. */
  run(job: Job, signal?: AbortSignal, options?: JobOptions): Promise<JobEnd<Result>>;
  close(): Promise<void>;
}

/** Called when a thread dies for a reason unrelated to its job. */
export type OnThreadTrouble = (text: string, error: Error) => void;

interface Waiting<Job, Result> {
  job: Job;
  signal: AbortSignal | undefined;
  options: JobOptions | undefined;
  /** Threads that died before they were ready for this job. */
  unstarted: number;
  resolve(end: JobEnd<Result>): void;
  reject(error: Error): void;
}

/** An update may replace the files that a thread loads; the second start finds the new ones. */
const mostStarts = 2;

/**
 * Threads for work that must be stoppable and must not block the event loop, first come, first served. A thread is
 * started when a job needs one, and kept. A job whose thread died before it was ready is retried once on another.
 */
export function createJobThreads<Job extends object, Result>(options: {
  script: URL;
  worker: WorkerOptions;
  /** Time limit of one job. */
  deadlineMs: number;
  threads: number;
  /** More jobs are refused with `service_unavailable`. */
  maxWaiting: number;
  /** Message of that refusal. */
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
      const mayStart = threads.size < options.threads;
      const thread = [...threads].find(({ isIdle }) => isIdle) ?? (mayStart ? start() : undefined);
      const waiting = thread && queue.shift();
      if (!waiting) return;
      if (thread instanceof Error) startAgain(waiting, thread);
      else void work(thread, waiting);
    }
  }

  async function work(thread: JobThread<Job, Result>, waiting: Waiting<Job, Result>): Promise<void> {
    const end = await thread.run(waiting.job, waiting.signal, waiting.options);
    if (typeof end === "object" && "unstarted" in end) startAgain(waiting, end.unstarted);
    else {
      if (typeof end === "object" && "failed" in end) onTrouble?.(`A thread of ${name} failed`, end.failed);
      waiting.resolve(end);
    }
    next();
  }

  /** Returns an error if the system cannot create a thread. */
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
    else waiting.reject(fault("service_unavailable", "A worker thread could not be started"));
  }

  return {
    run: (job, signal, jobOptions) =>
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
          options: jobOptions,
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
