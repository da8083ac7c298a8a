import type { WorkerOptions } from "node:worker_threads";
import { fault } from "./errors.ts";
import { type JobEnd, JobThread } from "./job-thread.ts";

export interface JobThreads<Job, Result> {
  /** Rejects with `service_unavailable` when too many wait already, or all is closed. */
  run(job: Job, signal?: AbortSignal): Promise<JobEnd<Result>>;
  readonly isClosed: boolean;
  close(): Promise<void>;
}

interface Waiting<Job, Result> {
  job: Job;
  signal: AbortSignal | undefined;
  resolve(end: JobEnd<Result>): void;
  reject(error: Error): void;
}

/**
 * A few threads for work that must be endable and may not hold up the event loop, first come, first served. A thread is
 * started when a job needs one, and kept; one that had to be ended is replaced by the next job.
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
}): JobThreads<Job, Result> {
  const threads = new Set<JobThread<Job, Result>>();
  const queue: Waiting<Job, Result>[] = [];
  let isClosed = false;

  function next(): void {
    while (queue.length > 0) {
      const isRoom = threads.size < options.threads;
      const thread = [...threads].find(({ isIdle }) => isIdle) ?? (isRoom ? start() : undefined);
      const waiting = thread && queue.shift();
      if (!waiting) return;
      thread.run(waiting.job, waiting.signal).then((end) => {
        waiting.resolve(end);
        next();
      });
    }
  }

  function start(): JobThread<Job, Result> {
    const { script, worker, deadlineMs } = options;
    const thread = new JobThread<Job, Result>(script, worker, deadlineMs, () => threads.delete(thread));
    threads.add(thread);
    return thread;
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
    get isClosed() {
      return isClosed;
    },
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
