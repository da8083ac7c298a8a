import { BlockList, isIP } from "node:net";
import { OAuthError } from "./oauth.ts";

/** Names that can only exist inside a network. The net port decides whether calls may reach them. */
const internalName = /^[^.]+$|\.(?:localhost|local|internal|lan|home\.arpa)$/;

/** Where http stays inside a network. */
const privateNetworks = new BlockList();
privateNetworks.addSubnet("127.0.0.0", 8);
privateNetworks.addSubnet("10.0.0.0", 8);
privateNetworks.addSubnet("172.16.0.0", 12);
privateNetworks.addSubnet("192.168.0.0", 16);
privateNetworks.addSubnet("100.64.0.0", 10);
privateNetworks.addAddress("::1", "ipv6");
privateNetworks.addSubnet("fc00::", 7, "ipv6");

/** https, or http inside a private network, without a user name or a fragment. */
export function secureAddress(text: string, what: string): URL {
  // The text itself is compared and stored.
  const url = text.length <= 2048 && !/[\p{Cc}\p{Cs}]/u.test(text) ? URL.parse(text) : null;
  if (url?.username !== "" || url.password !== "" || url.hash !== "") {
    throw new OAuthError("protocol", `${what} is not a valid URL`);
  }
  if (url.protocol === "https:" || (url.protocol === "http:" && isPrivate(url.hostname))) return url;
  throw new OAuthError("protocol", `${what} does not use https`);
}

function isPrivate(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  const family = isIP(host);
  return family === 0 ? internalName.test(host) : privateNetworks.check(host, family === 4 ? "ipv4" : "ipv6");
}
