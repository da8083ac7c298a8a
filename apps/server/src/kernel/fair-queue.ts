import { fault } from "./errors.ts";

export interface FairQueueOptions {
  /** Jobs that run at once, of all names. Default: no limit. */
  atOnce?: number;
  /** Jobs of one name that run at once. */
  ofOne: number;
  /** Jobs of one name that may wait. More are refused with `service_unavailable`. */
  maxWaiting: number;
  /** Message of that refusal. */
  crowded: string;
}

/** Starts the job when a slot is free. The signal only ends the wait: a running job watches it by itself. */
export type FairQueue = <T>(name: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

interface Jobs {
  running: number;
  waiting: (() => void)[];
}

/**
 * Shares slots fairly among names (users, schemas): the name with the fewest running jobs is next, and waiting jobs of
 * one name never delay another's.
 *
 *   arrived ──slot free──► running ──► done
 *      │                      ▲
 *      └──► waiting ──────────┘
 *              └──► aborted
 */
export function createFairQueue({
  atOnce = Number.POSITIVE_INFINITY,
  ofOne,
  maxWaiting,
  crowded,
}: FairQueueOptions): FairQueue {
  /** Names with running or waiting jobs. A name moves to the end when one of its jobs ends. */
  const names = new Map<string, Jobs>();
  let running = 0;

  function begin(name: string, jobs: Jobs): void {
    running++;
    jobs.running++;
    names.set(name, jobs);
  }

  function end(name: string, jobs: Jobs): void {
    running--;
    jobs.running--;
    names.delete(name);
    if (!isEmpty(jobs)) names.set(name, jobs);
    for (let next = nextName(); next && running < atOnce; next = nextName()) {
      begin(...next);
      next[1].waiting.shift()?.();
    }
  }

  function nextName(): [string, Jobs] | undefined {
    let found: [string, Jobs] | undefined;
    for (const entry of names) {
      const [, jobs] = entry;
      if (jobs.waiting.length === 0 || jobs.running >= ofOne) continue;
      if (!found || jobs.running < found[1].running) found = entry;
      if (found[1].running === 0) break;
    }
    return found;
  }

  function slotFree(name: string, jobs: Jobs, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        jobs.waiting.splice(jobs.waiting.indexOf(start), 1);
        if (isEmpty(jobs)) names.delete(name);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", leave, { once: true });
      jobs.waiting.push(start);
    });
  }

  return async (name, work, signal) => {
    signal?.throwIfAborted();
    const jobs = names.get(name) ?? { running: 0, waiting: [] };
    if (running < atOnce && jobs.running < ofOne) begin(name, jobs);
    else if (jobs.waiting.length >= maxWaiting) throw fault("service_unavailable", crowded);
    else {
      names.set(name, jobs);
      await slotFree(name, jobs, signal);
    }
    try {
      // The signal may have fired after the slot was granted.
      signal?.throwIfAborted();
      return await work();
    } finally {
      end(name, jobs);
    }
  };
}

function isEmpty({ running, waiting }: Jobs): boolean {
  return running === 0 && waiting.length === 0;
}
