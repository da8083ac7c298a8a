import { GantryError } from "./errors.ts";
import { pause } from "./pause.ts";
import { pauseBefore } from "./retry.rules.ts";

/** A restart, the work that it lets end before included. */
const longestAwayMs = 120_000;
/** A connection that stood for so long found the service at work, though it may have had nothing to tell. */
const steadyMs = 5_000;

/**
 * Reads what can be taken up again where it broke off: `connect` opens it anew, says when it is `opened`, and gives only
 * what was not given before. The last failure is thrown when no connection has stood for longer than a restart takes;
 * with `tries`, after so many further connections in a row that brought nothing.
 */
export async function* resuming<T>(
  connect: (opened: () => void) => AsyncIterable<T>,
  options: {
    tries: number | undefined;
    signal: AbortSignal | undefined;
    isLast(item: T): boolean;
    /** Whether a connection has said that nothing follows. */
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

/** How long to wait after a failure; one that waiting does not help is thrown. */
function pauseAfter(failure: unknown, failed: number): number {
  const wait = failure instanceof GantryError && failure.retryable ? pauseBefore(failure, failed) : undefined;
  if (wait === undefined) throw failure;
  return wait;
}

/** A service that is going down answers at once. */
const betweenLooksMs = 200;
/**
 * Looks until there is an end. A service that is away for the moment is waited for: the work goes on when it is back.
 * `patient`: whether it is; otherwise the first failure is thrown.
 */
export async function lookUntil<T>(
  look: () => Promise<T>,
  { isEnd, patient, signal }: { isEnd(seen: T): boolean; patient: boolean; signal: AbortSignal | undefined },
): Promise<T> {
  let failed = 0;
  for (let awaySince = performance.now(); ; ) {
    let wait = betweenLooksMs;
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
