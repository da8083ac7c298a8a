import { fault } from "./errors.ts";

export interface FairQueueOptions {
  /** Of all names together; left out: as many as come. */
  atOnce?: number;
  /** Of one name. */
  ofOne: number;
  /** Of one name: what comes when so much of it waits already is refused, retryably. */
  maxWaiting: number;
  /** What is said then. */
  crowded: string;
}

/**
 * Begins the work when it is its turn. Rejects with `service_unavailable` when too much of this name waits already, and
 * with the signal's reason when that is aborted before its turn; from then on the signal is the work's own business.
 */
export type FairQueue = <T>(name: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

interface Line {
  running: number;
  /** Each begins its work. */
  waiting: (() => void)[];
}

/**
 * Turns for work of many names, users or schemas: everybody's first before anybody's second, and what waits of one takes
 * nobody else's place. Those that have equally much under way take turns.
 *
 *   came ──room──► running ──► done
 *     │               ▲
 *     └──► waiting ───┘
 *             └──► aborted
 */
export function createFairQueue({
  atOnce = Number.POSITIVE_INFINITY,
  ofOne,
  maxWaiting,
  crowded,
}: FairQueueOptions): FairQueue {
  /** Those of which anything runs or waits, in the order in which they came; whoever has had a turn is the last again. */
  const lines = new Map<string, Line>();
  let running = 0;

  function begin(name: string, line: Line): void {
    running++;
    line.running++;
    lines.set(name, line);
  }

  function end(name: string, line: Line): void {
    running--;
    line.running--;
    lines.delete(name);
    if (!isEmpty(line)) lines.set(name, line);
    for (let next = nextLine(); next && running < atOnce; next = nextLine()) {
      begin(...next);
      next[1].waiting.shift()?.();
    }
  }

  function nextLine(): [string, Line] | undefined {
    let found: [string, Line] | undefined;
    for (const entry of lines) {
      const [, line] = entry;
      if (line.waiting.length === 0 || line.running >= ofOne) continue;
      if (!found || line.running < found[1].running) found = entry;
      if (found[1].running === 0) break;
    }
    return found;
  }

  function untilTurn(name: string, line: Line, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        line.waiting.splice(line.waiting.indexOf(turn), 1);
        if (isEmpty(line)) lines.delete(name);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", leave, { once: true });
      line.waiting.push(turn);
    });
  }

  return async (name, work, signal) => {
    signal?.throwIfAborted();
    const line = lines.get(name) ?? { running: 0, waiting: [] };
    // Where there is room nobody waits who could use it.
    if (running < atOnce && line.running < ofOne) begin(name, line);
    else if (line.waiting.length >= maxWaiting) throw fault("service_unavailable", crowded);
    else {
      lines.set(name, line);
      await untilTurn(name, line, signal);
    }
    try {
      // Between its turn and this moment.
      signal?.throwIfAborted();
      return await work();
    } finally {
      end(name, line);
    }
  };
}

function isEmpty({ running, waiting }: Line): boolean {
  return running === 0 && waiting.length === 0;
}
