import { setTimeout as sleep } from "node:timers/promises";
import type { OnTrouble, OnWake } from "./queue.ts";

/** One reason to call `onWake`. Exactly one of its methods is called in the end. */
interface WakeUp {
  handled(): void;
  /** The call rejected or never started: another worker must be woken. */
  failed(): void;
  /** Absent if all consumers were woken at the same time. */
  passedOn?(): void;
}

export interface WakeSlots {
  readonly waiting: number;
  offer(wakeUp: WakeUp): void;
  /** Calls `onWake` without a wake-up and repeats it until it resolves. */
  wakeSelf(): void;
  /** Starts no further call and returns waiting wake-ups. Resolves when the last call has ended. */
  stop(): Promise<void>;
}

/** Longest time without a call of `onWake`. */
export const lookAfterMs = 5000;
/** Pause after a failed call: without it, a worker whose database is down would be called thousands of times a second. */
const pauseMs = 1000;
/** Pause of a full worker: without it, a wake-up would circle among full workers. */
const fullPauseMs = 250;

/**
 * Runs at most `parallel` calls of `onWake` at once, and at least one every `lookAfterMs` while a slot is free, so that
 * work is done even if the engine delivers no wake-ups.
 *
 *     offered ──► waiting ──slot free──► running ──► handled
 *                    │                      ├──rejected──► pause, slot kept ──► failed
 *                    │                      └──full──► passed on ──► pause, slot kept
 *                    └──stop──► failed
 */
export function createWakeSlots(options: {
  parallel: number;
  onWake: OnWake;
  onTrouble: OnTrouble;
  lookAfterMs: number;
}): WakeSlots {
  const { parallel, onWake, onTrouble } = options;
  if (!Number.isInteger(parallel) || parallel < 1) throw new RangeError("parallel must be an integer of at least 1");
  const waiting: WakeUp[] = [];
  const stopping = new AbortController();
  const stopped = Promise.withResolvers<void>();
  let running = 0;
  let failing = false;
  const look = setTimeout(() => {
    if (running < parallel) slots.wakeSelf();
    else look.refresh();
  }, options.lookAfterMs).unref();

  const pause = (milliseconds: number): Promise<void> =>
    sleep(milliseconds, undefined, { signal: stopping.signal }).catch(() => undefined);

  async function call(wakeUp: WakeUp): Promise<void> {
    let full = false;
    try {
      await onWake({
        passOn: () => {
          full = true;
        },
      });
    } catch (error) {
      if (!failing) onTrouble("A worker failed. Retrying.", error);
      failing = true;
      await pause(pauseMs);
      return wakeUp.failed();
    }
    failing = false;
    if (!full || !wakeUp.passedOn) return wakeUp.handled();
    wakeUp.passedOn();
    await pause(fullPauseMs);
  }

  function fill(): void {
    while (running < parallel && !stopping.signal.aborted) {
      const next = waiting.shift();
      if (!next) return;
      running++;
      look.refresh();
      void call(next).finally(() => {
        running--;
        if (stopping.signal.aborted && running === 0) stopped.resolve();
        fill();
      });
    }
  }

  const self: WakeUp = {
    handled: () => undefined,
    failed: () => {
      if (!stopping.signal.aborted) slots.offer(self);
    },
  };

  const slots: WakeSlots = {
    get waiting() {
      return waiting.length;
    },
    offer(wakeUp) {
      if (stopping.signal.aborted) return wakeUp.failed();
      waiting.push(wakeUp);
      fill();
    },
    wakeSelf: () => slots.offer(self),
    stop() {
      stopping.abort();
      clearTimeout(look);
      for (const wakeUp of waiting.splice(0)) wakeUp.failed();
      if (running === 0) stopped.resolve();
      return stopped.promise;
    },
  };
  return slots;
}
