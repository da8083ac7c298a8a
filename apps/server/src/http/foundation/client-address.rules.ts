import { isIPv4, isIPv6 } from "node:net";

/** A network that contains the addresses of proxies. */
export interface TrustedRange {
  range: { check(address: string, family: "ipv4" | "ipv6"): boolean };
}

export interface ClientAddress {
  address: string | null;
  /** The address is that of a proxy which is not trusted, so it says nothing about a single client. */
  isShared: boolean;
}

/** Longer lists are not sent by proxies. */
const mostHops = 32;

/**
 * The address of the client: the last one in `X-Forwarded-For` that is not of a trusted proxy. A client can write anything
 * in front of it.
 */
export function clientAddressOf(
  peer: string | undefined,
  forwarded: string | string[] | undefined,
  trusted: readonly TrustedRange[],
): ClientAddress {
  const hops = [forwarded ?? []].flat().join(",").split(",").map(plainAddress).slice(-mostHops);
  const nearest = plainAddress(peer ?? "");
  let address = nearest;
  while (address !== null && hops.length > 0 && isTrusted(address, trusted)) {
    const before = hops.pop();
    if (before == null) break;
    address = before;
  }
  const isProxied = forwarded !== undefined && address === nearest && (nearest === null || isLocal(nearest));
  return { address, isShared: address === null || isProxied };
}

function plainAddress(text: string): string | null {
  const bare = text
    .trim()
    .toLowerCase()
    .replace(/^\[(.*)\](?::\d+)?$/, "$1")
    .replace(/^::ffff:(?=\d+\.)/, "");
  const withoutPort = bare.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1");
  return isIPv4(withoutPort) || isIPv6(withoutPort) ? withoutPort : null;
}

function isTrusted(address: string, trusted: readonly TrustedRange[]): boolean {
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  return trusted.some(({ range }) => range.check(address, family));
}

/** Proxies without the setting are usually on the same machine or network. */
const local =
  /^(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|::1$|f[cd]|fe[89ab])/;

function isLocal(address: string): boolean {
  return local.test(address);
}
