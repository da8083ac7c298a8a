import { tellNews } from "./news.ts";

/** Whom the page shows as signed in; undefined while that is nobody, or not known. */
let shown: string | undefined;
export const shownUser = (): string | undefined => shown;
export function showUser(username: string | undefined): void {
  shown = username;
}

/** What the header says of a call that is to be answered whoever is signed in. */
export const anybody = "1";

/**
 * Calls the service with the session, whose cookie counts only beside a header that no page of another site can send. It
 * names whom the page shows: where another has signed in since, nothing is done or told in the wrong name.
 */
export async function fetchAsConsole(
  input: string | URL | Request,
  init?: RequestInit,
  as = shown ?? anybody,
): Promise<Response> {
  // A link to a bucket is somebody else's address: it gets nothing of ours.
  const isOwn = new URL(input instanceof Request ? input.url : input, location.href).origin === location.origin;
  if (!isOwn) return fetch(input, init);
  const headers = new Headers(init?.headers);
  headers.set("x-gantry-console", as);
  try {
    const response = await fetch(input, { ...init, headers });
    heed(response, as, init?.method);
    return response;
  } catch (error) {
    if (!init?.signal?.aborted) tellNews({ kind: "unreached" });
    throw error;
  }
}

function heed({ status, headers }: Response, as: string, method = "GET"): void {
  tellNews({ kind: "reached" });
  const other = headers.get("x-gantry-session");
  if (status === 409 && other !== null) tellNews({ kind: "other", username: other });
  if (status === 401 && as !== anybody) tellNews({ kind: "ended", wasAction: method !== "GET" && method !== "HEAD" });
}
