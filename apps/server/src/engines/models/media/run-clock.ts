import { Interrupted } from "../driver.ts";

/** Separates the time that an upstream kept a call waiting from the time of its run. */
export class RunClock {
  readonly #createdAt = performance.now();
  #beganAt: number | undefined;
  #hasWaited = false;

  /** True once the upstream has refused to run the call yet. */
  get hasWaited(): boolean {
    return this.#hasWaited;
  }

  /** The upstream was asked to run the call now. */
  begin(): void {
    this.#beganAt = performance.now();
  }

  /** The upstream refused to run the call yet. */
  wait(): void {
    this.#beganAt = undefined;
    this.#hasWaited = true;
  }

  /**
   * The time of a finished call that is not charged. A reported run time is used only if it fits within the measured time,
   * so an upstream cannot raise the price.
   */
  waitedMs(reportedSeconds?: unknown): number {
    const now = performance.now();
    const measured = now - (this.#beganAt ?? now);
    const reported = typeof reportedSeconds === "number" ? reportedSeconds * 1000 : Number.NaN;
    const run = reported >= 0 && reported <= measured ? reported : measured;
    return now - this.#createdAt - run;
  }

  /** The rejection of an aborted call. Keeps the usage of `error`, if it is known. */
  interrupted(error: unknown, reason: unknown): Interrupted {
    const interrupted = error instanceof Interrupted ? error : new Interrupted(undefined, reason);
    interrupted.waitedMs = this.#beganAt === undefined ? Number.POSITIVE_INFINITY : this.#beganAt - this.#createdAt;
    return interrupted;
  }
}
