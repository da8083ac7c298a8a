import { fault } from "./errors.ts";
import { JobProcess, type ProcessEnd, type ProcessOptions } from "./job-process.ts";
import type { JobEnd } from "./job-thread.ts";
import type { OnThreadTrouble } from "./job-threads.ts";

export interface JobProcesses<Job, Result> {
  /**
   * Rejects with `service_unavailable` if a process cannot be started, was killed from outside, or the pool is closed. A
   * signal asks the process to cancel the job.
   */
  run(job: Job, options: { deadlineMs: number; signal?: AbortSignal }): Promise<JobEnd<Result>>;
  /** Ids of the processes. */
  pids(): number[];
  close(): Promise<void>;
}

/** An update may replace the files that a process loads; the second start finds the new ones. */
const mostStarts = 2;

/**
 * One process for work in native code, which may leak, crash or hang. It starts with the first job and ends when it has
 * been idle. All jobs share it; the caller bounds their number.
 *
 *   current ──too much memory──► current, and its successor starts ──successor is ready──► retired
 *      ├── a job is too slow ──► retired
 *      └── dies ──► each of its jobs is retried once in a process of its own
 *
 * Because nothing shares the process of a retried job, a job that kills it as well is the cause.
 */
export function createJobProcesses<Job extends object, Result>(
  options: ProcessOptions & {
    /** A process that holds more is replaced. */
    mostResidentBytes: number;
    /** A process without a job ends after this time. */
    idleMs: number;
    onTrouble?: OnThreadTrouble | undefined;
  },
): JobProcesses<Job, Result> {
  const { mostResidentBytes, idleMs, onTrouble } = options;
  const all = new Set<JobProcess<Job, Result>>();
  let current: JobProcess<Job, Result> | undefined;
  let isReplacing = false;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** Throws if the system cannot create a process. */
  function start(): JobProcess<Job, Result> {
    const process: JobProcess<Job, Result> = new JobProcess(options, {
      onResult: (residentBytes) => {
        if (process === current && residentBytes > mostResidentBytes) replace(process);
      },
      onIdle: () => {
        if (process !== current) return;
        clearTimeout(idle);
        idle = setTimeout(() => process.isIdle && process.retire(), idleMs).unref();
      },
      onEnd: () => {
        all.delete(process);
        if (process === current) current = undefined;
      },
      onTrouble: (text, error) => onTrouble?.(text, error),
    });
    all.add(process);
    return process;
  }

  /** The old process works until the new one is ready. If the new one cannot start, the next result tries again. */
  function replace(old: JobProcess<Job, Result>): void {
    if (isReplacing || isClosed) return;
    isReplacing = true;
    const takeOver = async () => {
      const next = start();
      await next.ready;
      if (current === old) current = next;
      else next.retire();
      old.retire();
    };
    takeOver()
      .catch(() => undefined)
      .finally(() => {
        isReplacing = false;
      });
  }

  /** `isAlone`: in a process that takes no other job. */
  async function attempt(
    isAlone: boolean,
    ...args: Parameters<JobProcess<Job, Result>["run"]>
  ): Promise<ProcessEnd<Result>> {
    let process: JobProcess<Job, Result>;
    try {
      process = !isAlone && current?.isOpen ? current : start();
    } catch (error) {
      onTrouble?.("A process could not be created", error as Error);
      return { unstarted: error as Error };
    }
    const running = process.run(...args);
    if (isAlone) process.retire();
    else current = process;
    return running;
  }

  return {
    async run(job, { deadlineMs, signal }) {
      let unstarted = 0;
      let hasDied = false;
      for (;;) {
        if (isClosed) throw shuttingDown();
        const end = await attempt(hasDied, job, deadlineMs, signal);
        if (typeof end === "string" || "result" in end) return end;
        if ("unstarted" in end) {
          unstarted++;
          if (unstarted === mostStarts) throw fault("service_unavailable", "A worker process could not be started");
        } else if (!hasDied) hasDied = true;
        // The system or an operator killed it, mostly for lack of memory. No file or prompt does that.
        else if (end.signal === "SIGKILL")
          throw fault("service_unavailable", "The worker process was killed", { cause: end.died });
        else return { failed: end.died };
      }
    },
    pids: () => [...all].flatMap(({ pid }) => pid ?? []),
    async close() {
      isClosed = true;
      clearTimeout(idle);
      await Promise.all([...all].map((process) => process.end()));
    },
  };
}

function shuttingDown(): Error {
  return fault("service_unavailable", "The server is shutting down");
}
