import { createStore, useStore } from "./store.ts";

export type Tone = "plain" | "good" | "bad" | "warn" | "info";

export interface Toast {
  id: number;
  text: string;
  tone: Tone;
}

const shownMs = 5_000;
const errorShownMs = 10_000;
let lastId = 0;
const toasts = createStore<readonly Toast[]>([]);

export const useToasts = (): readonly Toast[] => useStore(toasts);

/** Supersedes earlier toasts, except for errors, which may not have been read yet. */
export function toast(text: string, tone: Tone = "good"): void {
  const id = ++lastId;
  const unread = toasts.get().filter((shown) => shown.tone === "bad" && shown.text !== text);
  toasts.set([...unread, { id, text, tone }]);
  setTimeout(() => dismiss(id), tone === "bad" ? errorShownMs : shownMs);
}

export function dismiss(id: number): void {
  toasts.set(toasts.get().filter((shown) => shown.id !== id));
}
