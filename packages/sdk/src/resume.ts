import { GantryError } from "./errors.ts";
import { pause, pauseBefore } from "./retry.rules.ts";

/** The time of a restart, including the drain before it. */
const longestAwayMs = 120_000;
/** A connection open for this long found the service working, even without events. */
const steadyMs = 5_000;

/**
 * Reads a resumable stream: `connect` opens it again, calls `opened`, and yields only new entries. Throws the last
 * failure if no connection succeeds for longer than a restart takes; with `tries`, after that many connections in a row
 * without anything new.
 */
export async function* resuming<T>(
  connect: (opened: () => void) => AsyncIterable<T>,
  options: {
    tries: number | undefined;
    signal: AbortSignal | undefined;
    isLast(item: T): boolean;
    /** Whether the service has said that nothing follows. */
    isOver?(): boolean;
    cutShort(): Error;
  },
): AsyncGenerator<T> {
  const { tries, signal, isLast, isOver, cutShort } = options;
  let awaySince = performance.now();
  for (let failed = 0; ; failed++) {
    let failure: unknown;
    let steadyAt = Number.POSITIVE_INFINITY;
    const opened = () => {
      steadyAt = performance.now() + steadyMs;
    };
    try {
      for await (const item of connect(opened)) {
        failed = 0;
        yield item;
        awaySince = performance.now();
        if (isLast(item)) return;
      }
      if (isOver?.()) return;
      failure = cutShort();
    } catch (thrown) {
      failure = thrown;
    }
    signal?.throwIfAborted();
    if (performance.now() >= steadyAt) awaySince = performance.now();
    if (tries === undefined ? performance.now() - awaySince > longestAwayMs : failed >= tries) throw failure;
    await pause(pauseAfter(failure, failed), signal);
  }
}

/** The pause after a failure; throws if waiting does not help. */
function pauseAfter(failure: unknown, failed: number): number {
  const wait = failure instanceof GantryError && failure.retryable ? pauseBefore(failure, failed) : undefined;
  if (wait === undefined) throw failure;
  return wait;
}

/** A service in shutdown answers at once. */
const betweenLooksMs = 200;
/**
 * Polls until the end. Waits for a service that is temporarily away if `patient`; otherwise throws the first failure.
 */
export async function lookUntil<T>(
  look: () => Promise<T>,
  {
    isEnd,
    patient,
    signal,
    betweenMs = betweenLooksMs,
  }: { isEnd(seen: T): boolean; patient: boolean; signal: AbortSignal | undefined; betweenMs?: number },
): Promise<T> {
  let failed = 0;
  for (let awaySince = performance.now(); ; ) {
    let wait = betweenMs;
    try {
      const seen = await look();
      if (isEnd(seen)) return seen;
      failed = 0;
    } catch (failure) {
      signal?.throwIfAborted();
      if (failed === 0) awaySince = performance.now();
      if (!patient || performance.now() - awaySince > longestAwayMs) throw failure;
      wait = pauseAfter(failure, failed++);
    }
    await pause(wait, signal);
  }
}
