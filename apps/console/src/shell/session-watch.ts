import type { QueryClient } from "@tanstack/react-query";
import { shownUser, showUser } from "../api/fetch-as-console.ts";
import { serverEvents } from "../api/server-events.ts";
import { forTeam, type Session, signOut } from "../api/session.ts";
import { changeConsoleStatus, consoleStatus } from "./console-status.ts";
import { onOtherTabs, tellOtherTabs } from "./other-tabs.ts";
import { allowReload, reload } from "./reload.ts";
import { sessionQuery } from "./session.ts";

/** Follows changes of the session that API calls or other tabs report. */
export function watchSession(queries: QueryClient): void {
  serverEvents.subscribe((event) => {
    // After the user dismissed the dialog, background reads must not reopen it.
    if (event.kind === "session-ended" && (event.wasAction || consoleStatus().session === "active")) {
      changeConsoleStatus({ session: "ended" });
    }
    if (event.kind === "user-changed") reloadAs(event.username);
    if (event.kind === "team-left") reload(`You no longer act for ${event.team}`);
  });
  onOtherTabs((message) => {
    const shown = shownUser();
    if (message.kind === "signed out") {
      if (shown === undefined) return;
      reloadWithoutTexts();
    } else if (shown !== undefined && shown !== message.username) reloadAs(message.username);
    else void resume(queries);
  });
}

/** Chats and long inputs, which last as long as the tab. */
function forgetTexts(): void {
  for (const key of Object.keys(sessionStorage)) {
    if (/^gantry-(chat|text)-/.test(key)) sessionStorage.removeItem(key);
  }
}

function reloadWithoutTexts(message?: string): void {
  forgetTexts();
  // An open chat stores itself once more when the page ends.
  addEventListener("pagehide", forgetTexts);
  reload(message);
}

const reloadAs = (username: string): void => reloadWithoutTexts(`You're now signed in as ${username}`);

/** Call after signing in. `showNew`: the page shows no data of an earlier user. */
export async function enter(queries: QueryClient, session: Session, showNew = false): Promise<void> {
  const { username } = session;
  tellOtherTabs({ kind: "signed in", username });
  if (!showNew && shownUser() !== username) return reloadAs(username);
  if (showNew) queries.clear();
  showUser(username);
  queries.setQueryData(sessionQuery.queryKey, await forTeam(session));
  await resume(queries);
}

/** Signs out here and in every other tab. */
export async function leave(queries: QueryClient): Promise<void> {
  const atProvider = await signOut();
  tellOtherTabs({ kind: "signed out" });
  forgetTexts();
  queries.clear();
  if (atProvider !== undefined) location.assign(atProvider);
}

/** Refetches failed queries only; the page keeps its state. */
async function resume(queries: QueryClient): Promise<void> {
  // A page with unsaved changes may have stayed.
  removeEventListener("pagehide", forgetTexts);
  allowReload();
  changeConsoleStatus({ session: "active" });
  await queries.invalidateQueries({ predicate: ({ state }) => state.status === "error" });
}
