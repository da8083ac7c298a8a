import { useSyncExternalStore } from "react";

/** Two columns fit, beside the sidebar. */
const query = matchMedia("(min-width: 64rem)");

function subscribe(listener: () => void): () => void {
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}

export const useWide = (): boolean => useSyncExternalStore(subscribe, () => query.matches);
