import type { QueryClient } from "@tanstack/react-query";
import { fetchAsConsole } from "../api/fetch-as-console.ts";
import { serverEvents } from "../api/server-events.ts";
import { sessionPath } from "../api/session.ts";
import { isConnectionError } from "../ui/error-text.rules.ts";
import { changeConsoleStatus, consoleStatus } from "./console-status.ts";

const retryMs = 3_000;

/** Shows when the server cannot be reached, retries, and refetches failed queries once it answers. */
export function watchConnection(queries: QueryClient): void {
  let retries: ReturnType<typeof setInterval> | undefined;
  serverEvents.subscribe(({ kind }) => {
    const { isOffline } = consoleStatus();
    if (kind === "unreached" && !isOffline) {
      changeConsoleStatus({ isOffline: true });
      retries = setInterval(probe, retryMs);
    }
    if (kind === "reached" && isOffline) {
      changeConsoleStatus({ isOffline: false });
      clearInterval(retries);
      void queries.invalidateQueries({ predicate: ({ state: { error } }) => isConnectionError(error) });
    }
  });
  // The browser's own state is only a hint: a server on the same machine answers without a network.
  addEventListener("offline", probe);
  addEventListener("online", probe);
}

/** `fetchAsConsole` reports the outcome as an event. */
function probe(): void {
  fetchAsConsole(sessionPath).catch(() => {});
}
