import { sleep } from "../../../kernel/sleep.ts";
import type { CallUsage } from "../call-usage.ts";
import type { Run } from "../run.ts";
import type { RunChange, WriteRun, Written } from "../run-writer.ts";
import { addedBytes } from "./limits.rules.ts";
import { RunStopped } from "./stopped.ts";

type Change = Omit<RunChange, "id" | "ancestors" | "claim" | "holder" | "seq" | "active_ms" | "hold"> & {
  /** Added to the hold; negative to release. */
  holdMore?: number;
};

/** Interval of retries while holds of other calls use up the budget. */
const pollMs = 200;

/** The limit of `setTimeout`. */
const maxTimerMs = 2 ** 31 - 1;

/** One claim of a run. Writes changes in order; its signal aborts when the run is cancelled or has another claim. */
export class RunSession {
  readonly run: Run;
  readonly #write: WriteRun;
  readonly #controller = new AbortController();
  readonly #leaving = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #seq: number;
  #countedAt = performance.now();
  #activeMs = 0;
  /** Set by a pause: later time is not active. */
  #pausedAt: number | undefined;
  #held = 0;
  /** Nothing was written yet, so the hold of an earlier claim is still in place. */
  #isFresh = true;
  #last: Promise<unknown> = Promise.resolve();
  /** What the run may still cost; null: no limit. */
  budget: number | null = null;
  /** Charges that are not written yet, by call id. Written with the outcome of the call or the end of the run. */
  readonly unwritten = new Map<string, CallUsage>();
  /** Settles when all calls of the current step have ended. */
  underWay: Promise<unknown> = Promise.resolve();
  /** Bytes of the stored steps and calls. */
  historyBytes = 0;

  constructor(run: Run, write: WriteRun) {
    this.run = run;
    this.#write = write;
    this.#seq = run.writes;
    const left = Math.min(maxTimerMs, Math.max(0, run.timeoutMs - run.activeMs));
    this.#timer = setTimeout(() => this.stop("timeout"), left);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get remainingMs(): number {
    return this.run.timeoutMs - this.run.activeMs - this.#activeMs - (this.#now() - this.#countedAt);
  }

  /** Release the run after the current step. */
  get isLeaving(): boolean {
    return this.#leaving.signal.aborted;
  }

  stop(reason: RunStopped["reason"]): void {
    if (!this.signal.aborted) this.#controller.abort(new RunStopped(reason));
  }

  leave(): void {
    this.#leaving.abort();
  }

  /** Waits before the run is released, outside of its active time. A stop or `leave` ends the pause. */
  async pause(milliseconds: number): Promise<void> {
    clearTimeout(this.#timer);
    this.#pausedAt = performance.now();
    await sleep(milliseconds, AbortSignal.any([this.signal, this.#leaving.signal])).catch(() => {});
  }

  /** Writes in order. Rejects if the run has another claim. */
  write(change: Change): Promise<Written> {
    const result = this.#last.then(() => this.#writeNow(change));
    this.#last = result.catch(() => {});
    return result;
  }

  /**
   * Places a hold for a call of a run with a cost limit. Waits while the holds of other calls are in the way. False if the
   * budget is too small. A write with a negative `holdMore` releases the hold.
   */
  async setAside(most: number): Promise<boolean> {
    while (this.budget !== null && most > 0) {
      if (most > this.budget) return false;
      const { held } = await this.write({ holdMore: most });
      if (held) return true;
      if (this.budget !== null && most <= this.budget) await sleep(pollMs, this.signal);
    }
    return true;
  }

  async #writeNow({ holdMore, ...change }: Change): Promise<Written> {
    const { id, ancestors, claim, holder } = this.run;
    const hold = this.#held + (holdMore ?? 0);
    const now = this.#now();
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
    this.historyBytes += addedBytes(change);
    this.#isFresh = false;
    this.budget = written.room;
    if (written.held) this.#held = hold;
    if (written.cancel && !change.end) this.stop("cancelled");
    return written;
  }

  #now(): number {
    return this.#pausedAt ?? performance.now();
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
