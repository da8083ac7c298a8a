/** Calls at once, then at most once per `everyMs`; the last call is not lost. */
export function throttled(call: () => void, everyMs: () => number): { run(): void; stop(): void } {
  let last = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const fire = () => {
    timer = undefined;
    last = Date.now();
    call();
  };
  return {
    run() {
      timer ??= setTimeout(fire, Math.max(0, last + everyMs() - Date.now()));
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
