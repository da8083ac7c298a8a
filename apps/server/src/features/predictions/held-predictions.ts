import { fault } from "../../kernel/errors.ts";

/** Why a run is stopped before its own end. The reason travels as the abort signal's `reason`. */
export const stopReasons = {
  left: () => fault("generation_cancelled", "The client went away"),
  cancelled: () => fault("generation_cancelled", "The prediction was cancelled"),
  shutdown: () => fault("generation_cancelled", "The server is shutting down"),
  timeout: () => fault("generation_timeout", "The prediction took longer than the model's time limit"),
  lost: () => fault("generation_cancelled", "The prediction is no longer this node's to run"),
  queueTimeout: () => fault("generation_timeout", "The prediction waited longer than the model's queue limit"),
} as const;

export interface HeldPrediction {
  readonly id: string;
  readonly signal: AbortSignal;
  /** Why it was stopped, if it was. */
  readonly stoppedBy: keyof typeof stopReasons | undefined;
  /** The database knows it now, under this claim. */
  accepted(claim: number): void;
  /** Stops it; the first reason counts. */
  stop(reason: keyof typeof stopReasons): void;
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
  stopAll(reason: keyof typeof stopReasons): void;
}

export interface Claim {
  id: string;
  claim: number;
}

interface Entry extends HeldPrediction {
  claim: number | undefined;
  grant: (() => void) | undefined;
  stoppedBy: keyof typeof stopReasons | undefined;
}

export function createHeldPredictions(): HeldPredictions {
  const held = new Map<string, Entry>();

  function hold(id: string): HeldPrediction {
    const controller = new AbortController();
    let hasSlot = false;
    // This process was taken for dead, woke up, and claims anew what it has not noticed to have lost.
    held.get(id)?.stop("lost");
    const entry: Entry = {
      id,
      claim: undefined,
      stoppedBy: undefined,
      accepted: (claim) => {
        entry.claim = claim;
      },
      signal: controller.signal,
      grant: () => {
        hasSlot = true;
      },
      stop: (reason) => {
        if (controller.signal.aborted) return;
        entry.stoppedBy = reason;
        controller.abort(stopReasons[reason]());
      },
      slot: () =>
        new Promise((resolve, reject) => {
          const stopped = () => reject(controller.signal.reason);
          if (hasSlot) return resolve();
          if (controller.signal.aborted) return stopped();
          controller.signal.addEventListener("abort", stopped, { once: true });
          entry.grant = () => {
            entry.grant = undefined;
            controller.signal.removeEventListener("abort", stopped);
            resolve();
          };
        }),
      release: () => {
        if (held.get(id) === entry) held.delete(id);
      },
    };
    held.set(id, entry);
    return entry;
  }

  return {
    hold,
    get: (id) => held.get(id),
    granted: (id) => held.get(id)?.grant?.(),
    get size() {
      return held.size;
    },
    claims: () => [...held.values()].flatMap(({ id, claim }) => (claim === undefined ? [] : [{ id, claim }])),
    lose: ({ id, claim }) => {
      const entry = held.get(id);
      if (entry?.claim === claim) entry.stop("lost");
    },
    waitingIds: () => [...held.values()].filter((entry) => entry.grant).map((entry) => entry.id),
    stopAll: (reason) => {
      for (const entry of held.values()) entry.stop(reason);
    },
  };
}
