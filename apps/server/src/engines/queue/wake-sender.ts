import { createBatcher } from "../../kernel/batcher.ts";
import type { OnTrouble } from "./queue.ts";
import { within } from "./within.ts";

export interface WakeSender {
  wake(count: number): Promise<boolean>;
  /** Waits for the current send. */
  close(): Promise<void>;
}

const sendWithinMs = 2000;
const retryMs = 1000;

/** Merges the wake-ups that arrive during a `send` into the next. Failed ones are retried as one wake-up. */
export function createWakeSender(options: { send(count: number): Promise<void>; onTrouble: OnTrouble }): WakeSender {
  let retry: NodeJS.Timeout | undefined;
  let closed = false;
  let failing = false;
  let last: Promise<boolean> = Promise.resolve(true);

  const batcher = createBatcher<number, true>({
    async run(counts) {
      const sum = counts.reduce((total, count) => total + count, 0);
      await within(sendWithinMs, options.send(sum));
      failing = false;
      return counts.map(() => true);
    },
    maxItems: Number.MAX_SAFE_INTEGER,
    blameItem: () => false,
  });

  function failed(error: unknown): false {
    if (!failing) options.onTrouble("Workers could not be woken. Retrying.", error);
    failing = true;
    if (!closed) retry ??= setTimeout(again, retryMs).unref();
    return false;
  }

  function again(): void {
    retry = undefined;
    void wake(1);
  }

  async function wake(count: number): Promise<boolean> {
    if (closed) return false;
    if (count < 1) return true;
    last = batcher.add(count).catch(failed);
    return last;
  }

  return {
    wake,
    async close() {
      closed = true;
      clearTimeout(retry);
      await last;
    },
  };
}
