import { isIP } from "node:net";

/**
 * Whether the page that sends a request may call this server. Programs send no `Origin`, browsers always do. A domain
 * in `Host` proves nothing: its owner can point it to this machine and serve the page too. An address or `localhost`
 * cannot be rebound.
 */
export function isOwnOrigin(
  origin: string | undefined,
  host: string | undefined,
  publicUrl: string | undefined,
): boolean {
  if (origin === undefined) return true;
  const page = URL.parse(origin);
  if (page === null || page.host === "") return false;
  if (publicUrl !== undefined && page.origin === URL.parse(publicUrl)?.origin) return true;
  const own = URL.parse(`${page.protocol}//${host}`);
  return own !== null && page.host === own.host && cannotBeRebound(own.hostname);
}

function cannotBeRebound(hostname: string): boolean {
  return hostname === "localhost" || isIP(hostname.replace(/^\[|\]$/g, "")) !== 0;
}
