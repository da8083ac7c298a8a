import { createStore, useStore } from "../ui/store.ts";

/** Problems that affect every page of the console. */
export interface ConsoleStatus {
  isOffline: boolean;
  /** `dismissed`: the session has ended and the user closed the sign-in dialog, for example to copy unsaved text. */
  session: "active" | "ended" | "dismissed";
}

const status = createStore<ConsoleStatus>({ isOffline: false, session: "active" });

export const consoleStatus = status.get;
export const useConsoleStatus = (): ConsoleStatus => useStore(status);

export function changeConsoleStatus(change: Partial<ConsoleStatus>): void {
  status.set({ ...status.get(), ...change });
}
