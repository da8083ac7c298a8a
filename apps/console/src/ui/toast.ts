import { useSyncExternalStore } from "react";

export type Tone = "plain" | "good" | "bad" | "warn" | "info";

export interface Toast {
  id: number;
  text: string;
  tone: Tone;
}

const shownMs = 5_000;
let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Tells something that needs no answer; it goes away by itself. */
export function toast(text: string, tone: Tone = "good"): void {
  const id = ++lastId;
  set([...toasts, { id, text, tone }]);
  setTimeout(() => dismiss(id), shownMs);
}

export function dismiss(id: number): void {
  set(toasts.filter((one) => one.id !== id));
}

export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
}
