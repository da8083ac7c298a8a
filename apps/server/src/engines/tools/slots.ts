import { ToolServerError } from "./tools.ts";

interface Line {
  running: number;
  waiting: (() => void)[];
}

/** Lets a few calls a server run side by side; the others wait in the order in which they came. */
export class Slots {
  readonly #parallel: number;
  readonly #waiting: number;
  readonly #lines = new Map<string, Line>();

  constructor(parallel: number, waiting: number) {
    this.#parallel = parallel;
    this.#waiting = waiting;
  }

  /** Resolves with the function that gives the slot back. */
  async take(serverId: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const line = this.#lines.get(serverId) ?? { running: 0, waiting: [] };
    this.#lines.set(serverId, line);
    if (line.running < this.#parallel) line.running += 1;
    else await this.#wait(line, signal);
    return () => this.#giveBack(serverId, line);
  }

  #wait(line: Line, signal: AbortSignal): Promise<void> {
    if (line.waiting.length >= this.#waiting) {
      throw new ToolServerError("busy", "Too many calls wait for this server");
    }
    return new Promise((resolve, reject) => {
      const turn = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        line.waiting.splice(line.waiting.indexOf(turn), 1);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      line.waiting.push(turn);
    });
  }

  #giveBack(serverId: string, line: Line): void {
    const next = line.waiting.shift();
    // The slot passes on without being free in between.
    if (next) next();
    else line.running -= 1;
    if (line.running === 0) this.#lines.delete(serverId);
  }
}
