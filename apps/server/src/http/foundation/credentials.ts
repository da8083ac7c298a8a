import type { IncomingHttpHeaders } from "node:http";
import { teamHeader } from "@gantry/wire";
import { asPresentedSession } from "../../features/accounts/index.ts";

const sessionName = "gantry_session";
const consoleHeader = "x-gantry-console";
/** Sent by a page that does not know its user yet. */
const anybody = "1";

export function isOfConsole(headers: IncomingHttpHeaders): boolean {
  return headers[consoleHeader] !== undefined;
}

/** The user that the page believes to be signed in; undefined if unknown. */
export function believedUser(headers: IncomingHttpHeaders): string | undefined {
  const believed = headers[consoleHeader];
  return typeof believed === "string" && believed !== anybody ? believed : undefined;
}

/**
 * The session of the console. Browsers send the cookie with every request, but only scripts of our own pages can set
 * the console header: forms cannot, and scripts of other sites are not allowed to. Without the header the cookie is
 * ignored.
 */
export function sessionKey(headers: IncomingHttpHeaders): string | undefined {
  if (!isOfConsole(headers)) return undefined;
  const session = cookieOf(headers, hostCookie(sessionName, true)) ?? cookieOf(headers, sessionName);
  return session === undefined ? undefined : asPresentedSession(session);
}

export function cookieOf(headers: IncomingHttpHeaders, wanted: string): string | undefined {
  for (const pair of headers.cookie?.split(";") ?? []) {
    const [name = "", value = ""] = pair.split(/=(.*)/s);
    if (name.trim() === wanted && value.trim() !== "") return value.trim();
  }
  return undefined;
}

interface CookieOptions {
  maxAgeMs: number;
  isSecure: boolean;
  path?: string;
  /** Lax: also sent when another site leads the browser here. */
  sameSite?: "Strict" | "Lax";
}

/** Other hosts of the same domain cannot set a cookie with this prefix. Browsers take it with Secure and the path / only. */
export function hostCookie(name: string, isSecure: boolean): string {
  return isSecure ? `__Host-${name}` : name;
}

/** Replaces the session of the request, which may have begun without TLS. */
export function sessionCookies(
  headers: IncomingHttpHeaders,
  session: string,
  { maxAgeMs, isSecure }: Pick<CookieOptions, "maxAgeMs" | "isSecure">,
): string[] {
  const other = hostCookie(sessionName, !isSecure);
  const ended = hiddenCookie(other, "", { maxAgeMs: 0, isSecure: !isSecure });
  return [
    hiddenCookie(hostCookie(sessionName, isSecure), session, { maxAgeMs, isSecure }),
    ...(cookieOf(headers, other) === undefined ? [] : [ended]),
  ];
}

/** Scripts cannot read it. */
export function hiddenCookie(
  name: string,
  value: string,
  { maxAgeMs, isSecure, path = "/", sameSite = "Strict" }: CookieOptions,
): string {
  const maxAge = Math.max(0, Math.floor(maxAgeMs / 1000));
  const secure = isSecure ? "; Secure" : "";
  return `${name}=${value}; HttpOnly; SameSite=${sameSite}; Path=${path}; Max-Age=${maxAge}${secure}`;
}

/**
 * The API key of a request: `X-API-KEY`, `Authorization: Bearer <key>`, or the bare key in `Authorization` (the scheme
 * `APIKeyHeader` of the OpenAPI documents). Without one, the session of the console.
 */
export function presentedKey(headers: IncomingHttpHeaders): string | undefined {
  const own = headers["x-api-key"];
  if (typeof own === "string" && own !== "") return own.trim();
  const authorization = headers.authorization?.trim();
  if (!authorization) return sessionKey(headers);
  const bearer = /^bearer\s+(.*)$/i.exec(authorization);
  return (bearer ? bearer[1] : authorization)?.trim() || undefined;
}

/** The team for which the person of the key wants to act. */
export function wantedTeam(headers: IncomingHttpHeaders): string | undefined {
  const team = headers[teamHeader];
  return typeof team === "string" && team !== "" ? team.trim() : undefined;
}

/** The server has no TLS itself: the public address or the page's origin shows whether a proxy has. */
export function cameByTls({ baseUrl, headers }: { baseUrl: string; headers: IncomingHttpHeaders }): boolean {
  return [baseUrl, headers.origin].some((one) => one?.startsWith("https://"));
}
