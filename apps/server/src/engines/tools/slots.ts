import { ToolServerError } from "./tools.ts";

interface Line {
  running: number;
  /** By user, who comes next first. */
  waiting: Map<string, (() => void)[]>;
}

/** Who calls which server. */
interface SlotWanted {
  serverId: string;
  userId: string;
}

/** Lets a few calls a server run side by side. Of those that wait, each user's first comes before any user's second. */
export class Slots {
  readonly #parallel: number;
  readonly #waiting: number;
  readonly #lines = new Map<string, Line>();

  /** `waiting` calls of one user may wait for one server. */
  constructor(parallel: number, waiting: number) {
    this.#parallel = parallel;
    this.#waiting = waiting;
  }

  /** Resolves with the function that gives the slot back. */
  async take({ serverId, userId }: SlotWanted, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const line = this.#lines.get(serverId) ?? { running: 0, waiting: new Map() };
    this.#lines.set(serverId, line);
    if (line.running < this.#parallel) line.running += 1;
    else await this.#wait(line, userId, signal);
    return () => this.#giveBack(serverId, line);
  }

  #wait({ waiting }: Line, userId: string, signal: AbortSignal): Promise<void> {
    const turns = waiting.get(userId) ?? [];
    if (turns.length >= this.#waiting) {
      throw new ToolServerError("busy", "Too many calls wait for this server");
    }
    return new Promise((resolve, reject) => {
      const turn = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        turns.splice(turns.indexOf(turn), 1);
        if (turns.length === 0) waiting.delete(userId);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      turns.push(turn);
      waiting.set(userId, turns);
    });
  }

  #giveBack(serverId: string, line: Line): void {
    const next = nextOf(line);
    // The slot passes on without being free in between.
    if (next) next();
    else line.running -= 1;
    if (line.running === 0) this.#lines.delete(serverId);
  }
}

/** Takes the first call of the user whose turn it is; that user's others come after everybody else's first. */
function nextOf({ waiting }: Line): (() => void) | undefined {
  for (const [userId, turns] of waiting) {
    const next = turns.shift();
    waiting.delete(userId);
    if (turns.length > 0) waiting.set(userId, turns);
    return next;
  }
  return undefined;
}
