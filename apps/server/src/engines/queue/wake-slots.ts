import { setTimeout as sleep } from "node:timers/promises";
import type { OnTrouble } from "./queue.ts";

/** One reason to call `onWake`. Exactly one of the two is called in the end. */
interface WakeUp {
  handled(): void;
  /** The call rejected, or never took place: someone has to be woken in its place. */
  failed(): void;
}

export interface WakeSlots {
  /** How many wake-ups wait for a slot. */
  readonly waiting: number;
  offer(wakeUp: WakeUp): void;
  /** A call for a reason of our own: repeated here until it resolves. */
  wakeSelf(): void;
  /** Begins no further call and gives back what waits. Resolves when no call runs any more. */
  stop(): Promise<void>;
}

/** How long a consumer trusts that nothing happened. */
export const lookAfterMs = 5000;
/** A worker that fails (its database is away) would be woken again at once, and again, thousands of times a second. */
const restMs = 1000;

/**
 * The calling half of a consumer: at most `parallel` calls of `onWake` at a time, and one at least every `lookAfterMs`
 * while a slot is free: so work gets done, if later, even when the engine brings no wake-ups any more.
 *
 *     offered ──► waiting ──slot free──► running ──► handled
 *                    │                      └──rejected──► resting, slot held ──► failed
 *                    └──stop──► failed
 */
export function createWakeSlots(options: {
  parallel: number;
  onWake: () => Promise<void>;
  onTrouble: OnTrouble;
  lookAfterMs: number;
}): WakeSlots {
  const { parallel, onWake, onTrouble } = options;
  if (!Number.isInteger(parallel) || parallel < 1) throw new RangeError("parallel must be a whole number of 1 or more");
  const waiting: WakeUp[] = [];
  const stopping = new AbortController();
  const stopped = Promise.withResolvers<void>();
  let running = 0;
  let failing = false;
  const look = setTimeout(() => {
    if (running < parallel) slots.wakeSelf();
    else look.refresh();
  }, options.lookAfterMs).unref();

  async function call(wakeUp: WakeUp): Promise<void> {
    try {
      await onWake();
      failing = false;
      wakeUp.handled();
    } catch (error) {
      if (!failing) onTrouble("A worker failed; it is woken again until it succeeds", error);
      failing = true;
      await sleep(restMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      wakeUp.failed();
    }
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
