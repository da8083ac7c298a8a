import { createStore, useStore } from "./store.ts";

export type Tone = "plain" | "good" | "bad" | "warn" | "info";

export interface Toast {
  id: number;
  text: string;
  tone: Tone;
}

const shownMs = 5_000;
let lastId = 0;
const toasts = createStore<readonly Toast[]>([]);

export const useToasts = (): readonly Toast[] => useStore(toasts);

export function toast(text: string, tone: Tone = "good"): void {
  const id = ++lastId;
  toasts.set([...toasts.get(), { id, text, tone }]);
  setTimeout(() => dismiss(id), shownMs);
}

export function dismiss(id: number): void {
  toasts.set(toasts.get().filter((shown) => shown.id !== id));
}
