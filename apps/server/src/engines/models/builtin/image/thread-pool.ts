import { Worker } from "node:worker_threads";
import { fault } from "../../../../kernel/errors.ts";
import type { FromThread, Job, ToThread } from "./protocol.ts";

/**
 * A few threads and a queue before them. A thread is started when a job needs one.
 *
 *   (none) ──job──► busy ──done | failed──► idle ──job──► busy
 *                    │ └──abort──► draining ──dropped──► idle
 *                    │                └──graceMs over──► terminated = (none)
 *                    └──thread dies──► (none), its job fails, the next job starts a new thread
 *
 * An abort does not terminate the thread at once: libvips may be at work in it, and ending a thread under native work
 * is not safe. It drops the job before its next step, well under a second later.
 */
export interface ThreadPool {
  run(job: Job, read: (field: string) => Promise<Uint8Array<ArrayBuffer>>, signal: AbortSignal): Promise<Uint8Array>;
  /** Fails what waits, lets what runs end, then ends the threads. */
  close(): Promise<void>;
}

interface Task {
  job: Job;
  read(field: string): Promise<Uint8Array<ArrayBuffer>>;
  resolve(image: Uint8Array): void;
  reject(error: unknown): void;
  settled: boolean;
}

interface Thread {
  worker: Worker;
  task: Task | undefined;
  grace: NodeJS.Timeout | undefined;
}

export function createThreadPool(options: { url: URL; size: number; graceMs?: number }): ThreadPool {
  const { url, size, graceMs = 5000 } = options;
  const threads = new Set<Thread>();
  const queue: Task[] = [];
  let closed = false;
  let allQuiet: (() => void) | undefined;

  function next(): void {
    while (queue.length > 0) {
      const thread = [...threads].find(({ task }) => task === undefined) ?? (threads.size < size ? start() : undefined);
      const task = thread && queue.shift();
      if (!task) return;
      thread.task = task;
      thread.worker.ref();
      tell(thread, { type: "job", job: task.job });
    }
    if (![...threads].some(({ task }) => task)) allQuiet?.();
  }

  function start(): Thread {
    const worker = new Worker(url, { resourceLimits: { maxOldGenerationSizeMb: 512 } });
    const thread: Thread = { worker, task: undefined, grace: undefined };
    threads.add(thread);
    worker.on("message", (message: FromThread) => hear(thread, message));
    // "error" is followed by "exit"; the cause is kept for the log, the exit does the rest.
    let cause: unknown;
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", (code) => {
      threads.delete(thread);
      clearTimeout(thread.grace);
      const task = thread.task;
      thread.task = undefined;
      if (task)
        settle(task, () =>
          task.reject(
            fault("internal_server_error", "The painter stopped unexpectedly.", {
              cause: cause ?? new Error(`exit code ${code}`),
            }),
          ),
        );
      next();
    });
    return thread;
  }

  function hear(thread: Thread, message: FromThread): void {
    const { task } = thread;
    if (!task) return;
    if (message.type === "want") {
      if (task.settled) return;
      task.read(message.field).then(
        (bytes) => thread.task === task && !task.settled && tell(thread, { type: "reference", bytes }, [bytes.buffer]),
        (error) => {
          settle(task, () => task.reject(error));
          drop(thread);
        },
      );
      return;
    }
    if (message.type === "done") settle(task, () => task.resolve(message.image));
    if (message.type === "failed") settle(task, () => task.reject(faultOf(message)));
    clearTimeout(thread.grace);
    thread.grace = undefined;
    thread.task = undefined;
    // An idle thread keeps no process alive.
    thread.worker.unref();
    next();
  }

  function drop(thread: Thread): void {
    tell(thread, { type: "drop" });
    thread.grace ??= setTimeout(() => void thread.worker.terminate(), graceMs).unref();
  }

  return {
    run(job, read, signal) {
      if (closed) return Promise.reject(fault("service_unavailable", "The painter is shutting down."));
      if (signal.aborted) return Promise.reject(signal.reason);
      const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
      const task: Task = { job, read, resolve, reject, settled: false };
      const onAbort = () => {
        settle(task, () => reject(signal.reason));
        const at = queue.indexOf(task);
        if (at >= 0) queue.splice(at, 1);
        const thread = [...threads].find((one) => one.task === task);
        if (thread) drop(thread);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      queue.push(task);
      next();
      return promise.finally(() => signal.removeEventListener("abort", onAbort));
    },
    async close() {
      closed = true;
      for (const task of queue.splice(0))
        settle(task, () => task.reject(fault("service_unavailable", "The painter is shutting down.")));
      if ([...threads].some(({ task }) => task))
        await new Promise<void>((resolve) => {
          allQuiet = resolve;
        });
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}

function tell(thread: Thread, message: ToThread, transfer: ArrayBuffer[] = []): void {
  thread.worker.postMessage(message, transfer);
}

function settle(task: Task, how: () => void): void {
  if (task.settled) return;
  task.settled = true;
  how();
}

function faultOf(message: Extract<FromThread, { type: "failed" }>): Error {
  if (!message.fault)
    return fault("internal_server_error", "The painter failed.", { cause: new Error(message.reason) });
  const { type, msg, loc } = message.fault;
  return fault(type, msg, { loc, cause: message.reason || undefined });
}
