import { ToolServerError } from "./tools.ts";

interface Queue {
  running: number;
  /** By user. The first entry is next. */
  waiting: Map<string, (() => void)[]>;
}

interface SlotWanted {
  serverId: string;
  userId: string;
}

/** Limits the parallel calls of each server. The queue is fair: one call of each user before a second of any. */
export class Slots {
  readonly #parallel: number;
  readonly #waiting: number;
  readonly #queues = new Map<string, Queue>();

  /** `waiting` is per server and user. */
  constructor(parallel: number, waiting: number) {
    this.#parallel = parallel;
    this.#waiting = waiting;
  }

  /** Resolves with a function that releases the slot. */
  async take({ serverId, userId }: SlotWanted, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const queue = this.#queues.get(serverId) ?? { running: 0, waiting: new Map() };
    this.#queues.set(serverId, queue);
    if (queue.running < this.#parallel) queue.running += 1;
    else await this.#wait(queue, userId, signal);
    return () => this.#release(serverId, queue);
  }

  #wait({ waiting }: Queue, userId: string, signal: AbortSignal): Promise<void> {
    const calls = waiting.get(userId) ?? [];
    if (calls.length >= this.#waiting) {
      throw new ToolServerError("busy", "Too many calls wait for this server");
    }
    return new Promise((resolve, reject) => {
      const start = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        calls.splice(calls.indexOf(start), 1);
        if (calls.length === 0) waiting.delete(userId);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      calls.push(start);
      waiting.set(userId, calls);
    });
  }

  #release(serverId: string, queue: Queue): void {
    const next = nextOf(queue);
    // The next call takes over the slot.
    if (next) next();
    else queue.running -= 1;
    if (queue.running === 0) this.#queues.delete(serverId);
  }
}

/** Moves the user to the end of the queue. */
function nextOf({ waiting }: Queue): (() => void) | undefined {
  for (const [userId, calls] of waiting) {
    const next = calls.shift();
    waiting.delete(userId);
    if (calls.length > 0) waiting.set(userId, calls);
    return next;
  }
  return undefined;
}
