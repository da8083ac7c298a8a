import { GantryError } from "./errors.ts";
import { pause } from "./pause.ts";
import { pauseBefore } from "./retry.rules.ts";

/**
 * Reads what can be taken up again where it broke off: `connect` opens it anew and gives only what was not given before.
 * Connections that bring nothing new are counted, and after `tries` of them in a row the last failure is thrown.
 */
export async function* resuming<T>(
  connect: () => AsyncIterable<T>,
  options: {
    tries: number;
    signal: AbortSignal | undefined;
    isLast(item: T): boolean;
    /** Whether a connection has said that nothing follows. */
    isOver?(): boolean;
    cutShort(): Error;
  },
): AsyncGenerator<T> {
  const { tries, signal, isLast, isOver, cutShort } = options;
  for (let failed = 0; ; failed++) {
    let failure: unknown;
    try {
      for await (const item of connect()) {
        failed = 0;
        yield item;
        if (isLast(item)) return;
      }
      if (isOver?.()) return;
      failure = cutShort();
    } catch (thrown) {
      failure = thrown;
    }
    signal?.throwIfAborted();
    if (!(failure instanceof GantryError) || !failure.retryable || failed >= tries) throw failure;
    const wait = pauseBefore(failure, failed);
    if (wait === undefined) throw failure;
    await pause(wait, signal);
  }
}
