import type { QueryClient } from "@tanstack/react-query";
import { shownUser, showUser } from "../api/fetch-as-console.ts";
import { onNews } from "../api/news.ts";
import { type Session, signOut } from "../api/session.ts";
import { onOtherTabs, tellOtherTabs } from "./other-tabs.ts";
import { reload } from "./reload.ts";
import { sessionQuery } from "./session.ts";
import { currentTrouble, setTrouble } from "./trouble.ts";

/** Keeps the page true to the session, whoever ends or changes it: a call finds out, or another tab tells. */
export function watchSession(queries: QueryClient): void {
  onNews((news) => {
    // What a page reads by itself does not ask again and again.
    if (news.kind === "ended" && (news.wasAction || currentTrouble().session === "well"))
      setTrouble({ session: "ended" });
    if (news.kind === "other") becomeAnother(news.username);
  });
  onOtherTabs((news) => {
    const shown = shownUser();
    if (news.kind === "signed out") {
      if (shown !== undefined) reload();
    } else if (shown !== undefined && shown !== news.username) becomeAnother(news.username);
    else void goOn(queries);
  });
}

function becomeAnother(username: string): void {
  reload(`You are signed in as ${username} now`);
}

/** What follows from having signed in here; `showNew` where the page holds nothing of whoever it showed before. */
export async function enter(queries: QueryClient, session: Session, showNew = false): Promise<void> {
  const { username } = session;
  tellOtherTabs({ kind: "signed in", username });
  if (!showNew && shownUser() !== username) return becomeAnother(username);
  if (showNew) queries.clear();
  showUser(username);
  queries.setQueryData(sessionQuery.queryKey, session);
  await goOn(queries);
}

/** Signs out, here and in every tab. */
export async function leave(queries: QueryClient): Promise<void> {
  await signOut();
  tellOtherTabs({ kind: "signed out" });
  queries.clear();
}

/** The session is there again: what could not be read without it is asked for once more, all else stays as it is. */
async function goOn(queries: QueryClient): Promise<void> {
  setTrouble({ session: "well" });
  await queries.invalidateQueries({ predicate: ({ state }) => state.status === "error" });
}
