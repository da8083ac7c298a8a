/** Rejects with the signal's reason if that fires first. Without a signal the timer does not keep the process alive. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(done, milliseconds);
    if (!signal) timer.unref();
    function done(): void {
      signal?.removeEventListener("abort", stopped);
      resolve();
    }
    function stopped(): void {
      clearTimeout(timer);
      reject(signal?.reason);
    }
    signal?.addEventListener("abort", stopped, { once: true });
  });
}
