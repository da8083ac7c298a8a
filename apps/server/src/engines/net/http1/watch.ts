import { Ring, type RingEntry } from "../../../kernel/ring.ts";

/** Something that may take too long. */
export interface Watched {
  /** `now` is the time of `performance.now`. */
  checkTime(now: number): void;
}

const betweenLooksMs = 50;

/**
 * Looks at all that is under way twenty times a second. A timer for each would have to be set anew with every piece of
 * an answer; this way a piece only notes when it came.
 */
class Watch {
  readonly #watched = new Ring<Watched>();
  #timer: NodeJS.Timeout | undefined;

  add(one: Watched): RingEntry {
    this.#timer ??= setInterval(() => this.#look(), betweenLooksMs).unref();
    return this.#watched.add(one);
  }

  #look(): void {
    const now = performance.now();
    for (const one of this.#watched.all()) one.checkTime(now);
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

export const watch = new Watch();
