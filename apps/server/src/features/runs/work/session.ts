import { sleep } from "../../../kernel/sleep.ts";
import type { Run } from "../run.ts";
import type { RunChange, UsedByCall, WriteRun, Written } from "../run-writer.ts";
import { RunStopped } from "./stopped.ts";

type Change = Omit<RunChange, "id" | "ancestors" | "claim" | "holder" | "seq" | "active_ms" | "hold"> & {
  /** What is set aside beside what is set aside already; below zero it is given free. */
  holdMore?: number;
};

/** How soon somebody looks again who waits for money that another call of the same runs has set aside. */
const lookAgainMs = 200;

/** The limit of `setTimeout`. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * The time in which one claim of a run is worked on. Everything that happens to the run is written through it, one write
 * after the other; when the run turns out to be somebody else's, or is to be cancelled, its signal is aborted.
 */
export class RunSession {
  readonly run: Run;
  readonly #write: WriteRun;
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #seq: number;
  #countedAt = performance.now();
  #activeMs = 0;
  #held = 0;
  /** Nothing was written yet: what a claim before this one had set aside still is. */
  #isFresh = true;
  #last: Promise<unknown> = Promise.resolve();
  /** What the run may still cost; null: no limit. */
  room: number | null = null;
  /**
   * What was paid and does not stand in the run yet, by the id of the call. It is written with what came of the call, or
   * else with the end of the run.
   */
  readonly unwritten = new Map<string, UsedByCall>();
  /** Settles when nothing that was begun in the present turn goes on any more, however the turn itself ended. */
  underWay: Promise<unknown> = Promise.resolve();
  /** It is to be left at the next boundary between steps. */
  isLeaving = false;

  constructor(run: Run, write: WriteRun) {
    this.run = run;
    this.#write = write;
    this.#seq = run.writes;
    const left = Math.min(longestTimerMs, Math.max(0, run.timeoutMs - run.activeMs));
    this.#timer = setTimeout(() => this.stop("timeout"), left);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Of active time, until the run is out of it. */
  get remainingMs(): number {
    return this.run.timeoutMs - this.run.activeMs - this.#activeMs - (performance.now() - this.#countedAt);
  }

  stop(reason: RunStopped["reason"]): void {
    if (!this.signal.aborted) this.#controller.abort(new RunStopped(reason));
  }

  /** In the order of the calls. Rejects when the run is no longer this session's. */
  write(change: Change): Promise<Written> {
    const result = this.#last.then(() => this.#writeNow(change));
    this.#last = result.catch(() => {});
    return result;
  }

  /**
   * Sets aside what a call may come to, where the run may not cost as much as it likes. Waits while only other calls that
   * are under way stand against it; false: there is no room for it. It is given free by a write with `holdMore`.
   */
  async setAside(most: number): Promise<boolean> {
    while (this.room !== null && most > 0) {
      if (most > this.room) return false;
      const { held } = await this.write({ holdMore: most });
      if (held) return true;
      if (this.room !== null && most <= this.room) await sleep(lookAgainMs, this.signal);
    }
    return true;
  }

  async #writeNow({ holdMore, ...change }: Change): Promise<Written> {
    const { id, ancestors, claim, holder } = this.run;
    const hold = this.#held + (holdMore ?? 0);
    const now = performance.now();
    const active = Math.round(now - this.#countedAt);
    this.#countedAt = now;
    this.#activeMs += active;
    const written = await this.#write({
      id,
      ancestors,
      claim,
      holder,
      seq: this.#seq,
      active_ms: active,
      ...((holdMore || this.#isFresh) && { hold }),
      ...change,
    });
    if (!written.written) {
      this.stop("lost");
      throw this.signal.reason instanceof RunStopped ? this.signal.reason : new RunStopped("lost");
    }
    this.#seq++;
    this.#isFresh = false;
    this.room = written.room;
    if (written.held) this.#held = hold;
    if (written.cancel && !change.end) this.stop("cancelled");
    return written;
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
