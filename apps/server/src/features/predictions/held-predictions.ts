import { fault } from "../../kernel/errors.ts";

/** Why a run is stopped before its own end. The reason travels as the abort signal's `reason`. */
export const stopReasons = {
  left: () => fault("generation_cancelled", "The client went away"),
  cancelled: () => fault("generation_cancelled", "The prediction was cancelled"),
  shutdown: () => fault("generation_cancelled", "The server is shutting down"),
  timeout: () => fault("generation_timeout", "The prediction took longer than the model's time limit"),
  queueTimeout: () => fault("generation_timeout", "The prediction waited longer than the model's queue limit"),
} as const;

export interface HeldPrediction {
  readonly id: string;
  readonly signal: AbortSignal;
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
  ids(): string[];
  /** Those that wait for a slot. */
  waitingIds(): string[];
  stopAll(reason: keyof typeof stopReasons): void;
}

interface Entry extends HeldPrediction {
  grant: (() => void) | undefined;
}

export function createHeldPredictions(): HeldPredictions {
  const held = new Map<string, Entry>();

  function hold(id: string): HeldPrediction {
    const controller = new AbortController();
    let hasSlot = false;
    const entry: Entry = {
      id,
      signal: controller.signal,
      grant: () => {
        hasSlot = true;
      },
      stop: (reason) => {
        if (!controller.signal.aborted) controller.abort(stopReasons[reason]());
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
      release: () => held.delete(id),
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
    ids: () => [...held.keys()],
    waitingIds: () => [...held.values()].filter((entry) => entry.grant).map((entry) => entry.id),
    stopAll: (reason) => {
      for (const entry of held.values()) entry.stop(reason);
    },
  };
}
