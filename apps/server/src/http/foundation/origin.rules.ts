import { isIP } from "node:net";

/**
 * Whether a request may come from where it says. Programs send no `Origin`, browsers always do; a page of somebody else
 * is refused, as the protocol demands.
 *
 * The name in `Host` proves nothing when it is a domain: whoever owns one can let it lead to this machine and be at once
 * the page and, for the browser, the server. An address or `localhost` cannot be pointed elsewhere.
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
