import type { QueryClient } from "@tanstack/react-query";
import { fetchAsConsole } from "../api/fetch-as-console.ts";
import { onNews } from "../api/news.ts";
import { sessionPath } from "../api/session.ts";
import { isOfConnection } from "../ui/failure-words.rules.ts";
import { currentTrouble, setTrouble } from "./trouble.ts";

const everyMs = 3_000;

/** Notes when the server is not reached, tries until it is, and reads then what could not be read meanwhile. */
export function watchReach(queries: QueryClient): void {
  let asking: ReturnType<typeof setInterval> | undefined;
  onNews(({ kind }) => {
    const { isUnreached } = currentTrouble();
    if (kind === "unreached" && !isUnreached) {
      setTrouble({ isUnreached: true });
      asking = setInterval(ask, everyMs);
    }
    if (kind === "reached" && isUnreached) {
      setTrouble({ isUnreached: false });
      clearInterval(asking);
      void queries.invalidateQueries({ predicate: ({ state: { error } }) => isOfConnection(error) });
    }
  });
  // Without a network a server on the same machine is still there.
  addEventListener("offline", ask);
  addEventListener("online", ask);
}

/** The answer does not matter, and it is told as that of any other call. */
function ask(): void {
  fetchAsConsole(sessionPath).catch(() => {});
}
