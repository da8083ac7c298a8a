import { useSyncExternalStore } from "react";

const tickMs = 1_000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

const tick = () => {
  for (const listener of listeners) listener();
};

/** One timer for all relative times of the page. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(tick, tickMs);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** A text that depends on the time. The component renders again only when the text changes. */
export const useTickingText = (read: () => string): string => useSyncExternalStore(subscribe, read);
