import type { IncomingHttpHeaders } from "node:http";
import { sessionKey } from "./session-cookie.ts";

/**
 * The API key as the request presents it: `X-API-KEY`, `Authorization: Bearer <key>`, or the bare key in
 * `Authorization` (the scheme `APIKeyHeader` of the OpenAPI documents). Where there is none, the one that the console is
 * signed in with.
 */
export function presentedKey(headers: IncomingHttpHeaders): string | undefined {
  const own = headers["x-api-key"];
  if (typeof own === "string" && own !== "") return own.trim();
  const authorization = headers.authorization?.trim();
  if (!authorization) return sessionKey(headers);
  const bearer = /^bearer\s+(.*)$/i.exec(authorization);
  return (bearer ? bearer[1] : authorization)?.trim() || undefined;
}
