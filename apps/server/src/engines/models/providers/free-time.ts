/** A long pause of the event loop counts as one of these steps. */
const steps = 20;

/**
 * Aborts after a time in which the event loop was free. An answer that waits behind other work of this process, as at its
 * start, is not late.
 */
export function afterFreeTime(ms: number): AbortSignal {
  const controller = new AbortController();
  let left = steps;
  const timer = setInterval(
    () => {
      if (--left > 0) return;
      clearInterval(timer);
      controller.abort(new Error("The time limit has passed"));
    },
    Math.max(1, ms / steps),
  );
  timer.unref();
  return controller.signal;
}
