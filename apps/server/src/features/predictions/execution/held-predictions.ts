import type { Timed } from "../../../kernel/deadlines.ts";
import { fault } from "../../../kernel/errors.ts";
import { Register } from "../../../kernel/register.ts";

/** Why a run is stopped before its own end. The reason travels as the abort signal's `reason`. */
export const stopReasons = {
  left: () => fault("generation_cancelled", "The client went away"),
  cancelled: () => fault("generation_cancelled", "The prediction was cancelled"),
  /** Nobody cancelled it: it failed, so it costs nothing and is worth a repeat. */
  shutdown: () => fault("service_unavailable", "The server is shutting down"),
  timeout: () => fault("generation_timeout", "The prediction took longer than the model's time limit"),
  lost: () => fault("generation_cancelled", "The prediction is no longer this node's to run"),
  queueTimeout: () => fault("generation_timeout", "The prediction waited longer than the model's queue limit"),
} as const;

export type StopReason = keyof typeof stopReasons;

/** As something timed, it is stopped when the time that its model allows is over. */
export interface HeldPrediction extends Timed {
  readonly id: string;
  readonly signal: AbortSignal;
  /** Why it was stopped, if it was. */
  readonly stoppedBy: StopReason | undefined;
  /** Called when it is stopped, after the signal: a listener of the signal costs ten times as much. */
  onStop: (() => void) | undefined;
  /** Whether somebody beside its client reads along, or has. */
  readonly isFollowed: boolean;
  /** Called when the first one begins to. */
  onFollowed: (() => void) | undefined;
  follow(): void;
  /** The database knows it now, under this claim. */
  accepted(claim: number): void;
  /** Stops it; the first reason counts. */
  stop(reason: StopReason): void;
  /** Resolves when a slot was granted, rejects with the reason when it is stopped before. */
  slot(): Promise<void>;
  release(): void;
}

/** The predictions that this process holds: what it executes, and what waits for a slot with a connection here. */
export interface HeldPredictions {
  hold(id: string): HeldPrediction;
  get(id: string): HeldPrediction | undefined;
  granted(id: string): void;
  readonly size: number;
  /** Those that the database knows to be here, as far as this process was told. */
  claims(): Claim[];
  /** Stops what another node has taken over or ended; a later claim of the same prediction goes on. */
  lose(claim: Claim): void;
  /** Those that wait for a slot. */
  waitingIds(): string[];
  stopAll(reason: StopReason): void;
}

export interface Claim {
  id: string;
  claim: number;
}

/** A class, and not a handful of closures: one is made for every request. */
class Entry implements HeldPrediction, Timed {
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

export function createHeldPredictions(): HeldPredictions {
  const held = new Register<Entry>();

  function hold(id: string): HeldPrediction {
    // This process was taken for dead, woke up, and claims anew what it has not noticed to have lost.
    held.get(id)?.stop("lost");
    const entry = new Entry(id, held);
    held.set(id, entry);
    return entry;
  }

  return {
    hold,
    get: (id) => held.get(id),
    granted: (id) => held.get(id)?.grant(),
    get size() {
      return held.size;
    },
    claims: () => held.all().flatMap(({ id, claim }) => (claim === undefined ? [] : [{ id, claim }])),
    lose: ({ id, claim }) => {
      const entry = held.get(id);
      if (entry?.claim === claim) entry.stop("lost");
    },
    waitingIds: () =>
      held
        .all()
        .filter((entry) => entry.waitsForSlot)
        .map((entry) => entry.id),
    stopAll: (reason) => {
      for (const entry of held.all()) entry.stop(reason);
    },
  };
}
