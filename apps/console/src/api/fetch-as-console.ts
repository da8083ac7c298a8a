import { actingTeam } from "./acting-team.ts";
import { serverEvents } from "./server-events.ts";

/** The user that the page shows as signed in; undefined when signed out or not known yet. */
let shown: string | undefined;
export const shownUser = (): string | undefined => shown;
export function showUser(username: string | undefined): void {
  shown = username;
}

/** Sessions, the password and the list of teams belong to the person. */
const isOfPerson = (path: string): boolean =>
  path.startsWith("/console/") || /^\/api\/v2\/(teams|sessions|me\/password)(\/|$)/.test(path);

/** Header value of a call that any signed-in user may make. */
export const anyUser = "1";

/**
 * Calls the API with the session cookie. The cookie counts only together with a header that other sites cannot send. The
 * header names the user that the page shows: if another user has signed in since, the server refuses the call.
 */
export async function fetchAsConsole(
  input: string | URL | Request,
  init?: RequestInit,
  as = shown ?? anyUser,
): Promise<Response> {
  // Links to a bucket lead to another origin, which must not receive our header.
  const { origin, pathname } = new URL(input instanceof Request ? input.url : input, location.href);
  if (origin !== location.origin) return fetch(input, init);
  const headers = new Headers(init?.headers);
  headers.set("x-gantry-console", as);
  const team = actingTeam();
  if (team !== undefined && !isOfPerson(pathname)) headers.set("x-gantry-team", team);
  try {
    const response = await fetch(input, { ...init, headers });
    reportEvents(response, as, init?.method);
    return response;
  } catch (error) {
    if (!init?.signal?.aborted) serverEvents.set({ kind: "unreached" });
    throw error;
  }
}

function reportEvents({ status, headers }: Response, as: string, method = "GET"): void {
  serverEvents.set({ kind: "reached" });
  const otherUser = headers.get("x-gantry-session");
  if (status === 409 && otherUser !== null) serverEvents.set({ kind: "user-changed", username: otherUser });
  if (status === 401 && as !== anyUser) {
    serverEvents.set({ kind: "session-ended", wasAction: method !== "GET" && method !== "HEAD" });
  }
}
