import { setTimeout as sleep } from "node:timers/promises";
import type { OnTrouble, OnWake } from "./queue.ts";

/** One reason to call `onWake`. Exactly one of these is called in the end. */
interface WakeUp {
  handled(): void;
  /** The call rejected, or never took place: someone has to be woken in its place. */
  failed(): void;
  /** Left out where others were woken at the same time. */
  passedOn?(): void;
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
/** Where all workers are full, a wake-up would go round among them without a pause. */
const fullRestMs = 250;

/**
 * The calling half of a consumer: at most `parallel` calls of `onWake` at a time, and one at least every `lookAfterMs`
 * while a slot is free: so work gets done, if later, even when the engine brings no wake-ups any more.
 *
 *     offered ──► waiting ──slot free──► running ──► handled
 *                    │                      ├──rejected──► resting, slot held ──► failed
 *                    │                      └──full──► passed on ──► resting, slot held
 *                    └──stop──► failed
 */
export function createWakeSlots(options: {
  parallel: number;
  onWake: OnWake;
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

  const rest = (milliseconds: number): Promise<void> =>
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
      if (!failing) onTrouble("A worker failed; it is woken again until it succeeds", error);
      failing = true;
      await rest(restMs);
      return wakeUp.failed();
    }
    failing = false;
    if (!full || !wakeUp.passedOn) return wakeUp.handled();
    wakeUp.passedOn();
    await rest(fullRestMs);
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
