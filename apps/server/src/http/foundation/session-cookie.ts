import type { IncomingHttpHeaders } from "node:http";
import { asPresentedSession } from "../../features/accounts/index.ts";

const cookieName = "gantry_session";
const consoleHeader = "x-gantry-console";
/** Of a page that does not know yet. */
const anybody = "1";

/** Whether it is a page of the console that asks. */
export function isOfConsole(headers: IncomingHttpHeaders): boolean {
  return headers[consoleHeader] !== undefined;
}

/** Who the page takes itself to be signed in as; undefined where it does not say. */
export function believedUser(headers: IncomingHttpHeaders): string | undefined {
  const believed = headers[consoleHeader];
  return typeof believed === "string" && believed !== anybody ? believed : undefined;
}

/**
 * The session that the console is signed in by. A browser sends the cookie along with whatever it is made to ask for; this
 * header it sends only for a script of our own pages, as no form can send it and no other site's script is allowed to.
 * Without it the cookie is as if it were not there.
 */
export function sessionKey(headers: IncomingHttpHeaders): string | undefined {
  if (!isOfConsole(headers) || headers.cookie === undefined) return undefined;
  for (const pair of headers.cookie.split(";")) {
    const [name = "", value = ""] = pair.split(/=(.*)/s);
    if (name.trim() === cookieName && value.trim() !== "") return asPresentedSession(value.trim());
  }
  return undefined;
}

export function sessionCookie(
  session: string,
  { maxAgeMs, isSecure }: { maxAgeMs: number; isSecure: boolean },
): string {
  const maxAge = Math.max(0, Math.floor(maxAgeMs / 1000));
  const secure = isSecure ? "; Secure" : "";
  return `${cookieName}=${session}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${maxAge}${secure}`;
}
