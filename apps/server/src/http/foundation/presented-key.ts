import type { IncomingHttpHeaders } from "node:http";

/**
 * The API key as the request presents it: `X-API-KEY`, `Authorization: Bearer <key>`, or the bare key in
 * `Authorization` (the scheme `APIKeyHeader` of the OpenAPI documents).
 */
export function presentedKey(headers: IncomingHttpHeaders): string | undefined {
  const own = headers["x-api-key"];
  if (typeof own === "string" && own !== "") return own.trim();
  const authorization = headers.authorization?.trim();
  if (!authorization) return undefined;
  const bearer = /^bearer\s+(.*)$/i.exec(authorization);
  return (bearer ? bearer[1] : authorization)?.trim() || undefined;
}
