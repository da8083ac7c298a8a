import type { Timed } from "../../../kernel/deadlines.ts";
import { Register } from "../../../kernel/register.ts";
import { type StopReason, stopReasons } from "../prediction.ts";

/** A prediction that this process runs, or that waits for a slot with a connection here. Expires at the model's time limit. */
export interface LivePrediction extends Timed {
  readonly id: string;
  readonly signal: AbortSignal;
  readonly stoppedBy: StopReason | undefined;
  /** Called after the signal is aborted. A listener on the signal costs ten times as much. */
  onStop: (() => void) | undefined;
  /** Whether a follower reads it, or has read it. */
  readonly isFollowed: boolean;
  /** Called when the first follower arrives. */
  onFollowed: (() => void) | undefined;
  follow(): void;
  /** The database has the prediction now, under this claim. */
  accepted(claim: number): void;
  /** The first reason counts. */
  stop(reason: StopReason): void;
  /** Resolves when a slot is granted. Rejects with the reason if it is stopped first. */
  slot(): Promise<void>;
  release(): void;
}

/** The live predictions of this process. */
export interface LivePredictions {
  add(id: string): LivePrediction;
  get(id: string): LivePrediction | undefined;
  granted(id: string): void;
  readonly size: number;
  /** The accepted ones. */
  claims(): Claim[];
  /** Stops a prediction that another node has taken over or ended, unless it is here under a later claim. */
  lose(claim: Claim): void;
  /** Those that wait for a slot. */
  waitingIds(): string[];
  stopAll(reason: StopReason): void;
}

export interface Claim {
  id: string;
  claim: number;
}

/** A class rather than closures, because every request creates one. */
class Entry implements LivePrediction {
  readonly id: string;
  claim: number | undefined;
  stoppedBy: StopReason | undefined;
  onStop: (() => void) | undefined;
  isFollowed = false;
  onFollowed: (() => void) | undefined;
  since = 0;
  readonly #all: Register<Entry>;
  readonly #controller = new AbortController();
  #hasSlot = false;
  #onSlot: (() => void) | undefined;

  constructor(id: string, all: Register<Entry>) {
    this.id = id;
    this.#all = all;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get waitsForSlot(): boolean {
    return this.#onSlot !== undefined;
  }

  accepted(claim: number): void {
    this.claim = claim;
  }

  stop(reason: StopReason): void {
    if (this.stoppedBy !== undefined) return;
    this.stoppedBy = reason;
    this.#controller.abort(stopReasons[reason]());
    this.onStop?.();
  }

  follow(): void {
    if (this.isFollowed) return;
    this.isFollowed = true;
    this.onFollowed?.();
  }

  expire(): void {
    this.stop("timeout");
  }

  grant(): void {
    this.#hasSlot = true;
    this.#onSlot?.();
    this.#onSlot = undefined;
  }

  slot(): Promise<void> {
    return new Promise((resolve, reject) => {
      const { signal } = this;
      const stopped = () => reject(signal.reason);
      if (this.#hasSlot) return resolve();
      if (signal.aborted) return stopped();
      signal.addEventListener("abort", stopped, { once: true });
      this.#onSlot = () => {
        signal.removeEventListener("abort", stopped);
        resolve();
      };
    });
  }

  release(): void {
    if (this.#all.get(this.id) === this) this.#all.delete(this.id);
  }
}

export function createLivePredictions(): LivePredictions {
  const live = new Register<Entry>();

  return {
    add(id) {
      // This process was considered dead, and claims a prediction again before it has noticed the loss.
      live.get(id)?.stop("lost");
      const entry = new Entry(id, live);
      live.set(id, entry);
      return entry;
    },
    get: (id) => live.get(id),
    granted: (id) => live.get(id)?.grant(),
    get size() {
      return live.size;
    },
    claims: () => live.all().flatMap(({ id, claim }) => (claim === undefined ? [] : [{ id, claim }])),
    lose: ({ id, claim }) => {
      const entry = live.get(id);
      if (entry?.claim === claim) entry.stop("lost");
    },
    waitingIds: () =>
      live
        .all()
        .filter((entry) => entry.waitsForSlot)
        .map((entry) => entry.id),
    stopAll: (reason) => {
      for (const entry of live.all()) entry.stop(reason);
    },
  };
}
