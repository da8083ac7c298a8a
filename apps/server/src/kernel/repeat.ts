import { sleep } from "./sleep.ts";

export interface Repeated {
  /** Waits briefly for the current pass, which may hang on a database that is down. */
  stop(): Promise<void>;
}

const stopWithinMs = 5_000;

/** Runs `work` at every interval, unless the last pass is still running. */
export function repeat(work: () => Promise<void>, milliseconds: number, onError: (error: unknown) => void): Repeated {
  let current: Promise<void> | undefined;
  const timer = setInterval(() => {
    current ??= work()
      .catch(onError)
      .finally(() => {
        current = undefined;
      });
  }, milliseconds);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.race([current, sleep(stopWithinMs)]);
    },
  };
}
