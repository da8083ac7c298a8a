export interface Repeated {
  /** Waits for the pass under way, but not for long: it may wait for a database that is away. */
  stop(): Promise<void>;
}

const stopWithinMs = 5_000;

/** Starts the work at every interval, unless its last pass still runs. */
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
      await Promise.race([current, new Promise((resolve) => setTimeout(resolve, stopWithinMs).unref())]);
    },
  };
}
