import type { IncomingHttpHeaders } from "node:http";
import { sessionKey } from "./session-cookie.ts";

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
