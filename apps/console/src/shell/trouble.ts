import { useSyncExternalStore } from "react";

/** What stands in the way of the whole console, whichever page is open. */
export interface Trouble {
  isUnreached: boolean;
  /** `put off`: whoever sat before it has closed the question, to look at the page or copy from it. */
  session: "well" | "ended" | "put off";
}

let trouble: Trouble = { isUnreached: false, session: "well" };
const listeners = new Set<() => void>();

export const currentTrouble = (): Trouble => trouble;

export function setTrouble(change: Partial<Trouble>): void {
  trouble = { ...trouble, ...change };
  for (const listener of listeners) listener();
}

export function useTrouble(): Trouble {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, currentTrouble);
}
