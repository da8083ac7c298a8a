/**
 * Runs `work` once at a time. A call during a pass starts one more pass afterwards, so that nothing that arrived too
 * late for the first is missed. All callers share the promise.
 */
export function singleFlight(work: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined;
  let isAskedAgain = false;

  async function passes(): Promise<void> {
    do {
      isAskedAgain = false;
      await work();
    } while (isAskedAgain);
  }

  return () => {
    isAskedAgain = true;
    current ??= passes().finally(() => {
      current = undefined;
    });
    return current;
  };
}
