import type { IncomingHttpHeaders } from "node:http";

const cookieName = "gantry_session";
const consoleHeader = "x-gantry-console";

/**
 * The key that the console is signed in with. A browser sends the cookie along with whatever it is made to ask for; this
 * header it sends only for a script of our own pages, as no form can send it and no other site's script is allowed to.
 * Without it the cookie is as if it were not there.
 */
export function sessionKey(headers: IncomingHttpHeaders): string | undefined {
  if (headers[consoleHeader] !== "1" || headers.cookie === undefined) return undefined;
  for (const pair of headers.cookie.split(";")) {
    const [name = "", value = ""] = pair.split(/=(.*)/s);
    if (name.trim() === cookieName) return decoded(value.trim()) || undefined;
  }
  return undefined;
}

/** The operator's own key may hold what a cookie cannot. */
function decoded(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

export function sessionCookie(key: string, { maxAgeMs, isSecure }: { maxAgeMs: number; isSecure: boolean }): string {
  const maxAge = Math.max(0, Math.floor(maxAgeMs / 1000));
  const secure = isSecure ? "; Secure" : "";
  return `${cookieName}=${encodeURIComponent(key)}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${maxAge}${secure}`;
}
