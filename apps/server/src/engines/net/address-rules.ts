import { BlockList, isIP } from "node:net";

/**
 * Ranges outside the public network, from the IANA special-purpose registries. Blocks that are only partly public
 * (192.0.0.0/24, 2001::/23) are refused as a whole. One public address is refused, because inside Azure it leads to the host.
 */
const refusedRanges4: readonly (readonly [network: string, bits: number])[] = [
  ["0.0.0.0", 8], // this host
  ["10.0.0.0", 8], // private
  ["100.64.0.0", 10], // carrier-grade NAT
  ["127.0.0.0", 8], // loopback
  ["168.63.129.16", 32], // Azure WireServer
  ["169.254.0.0", 16], // link-local, cloud metadata
  ["172.16.0.0", 12], // private
  ["192.0.0.0", 24], // protocol assignments
  ["192.0.2.0", 24], // documentation
  ["192.88.99.0", 24], // 6to4 relays
  ["192.168.0.0", 16], // private
  ["198.18.0.0", 15], // benchmarking
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4], // reserved, broadcast
];

const refusedRanges6: readonly (readonly [network: string, bits: number])[] = [
  ["::", 96], // unspecified, loopback, IPv4-compatible
  ["::ffff:0:0:0", 96], // IPv4-translated
  ["64:ff9b:1::", 48], // local translation
  ["100::", 64], // discard
  ["2001::", 23], // protocol assignments, Teredo among them
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4: any IPv4 address in disguise
  ["3fff::", 20], // documentation
  ["5f00::", 16], // segment routing
  ["fc00::", 7], // unique local
  ["fe80::", 10], // link-local
  ["fec0::", 10], // site-local
  ["ff00::", 8], // multicast
];

/** Public translation (NAT64): refused if the embedded IPv4 address is. */
const translated = "64:ff9b::";

const refused = new BlockList();
for (const [network, bits] of refusedRanges4) {
  refused.addSubnet(network, bits, "ipv4");
  // The same address written as IPv6: mapped, and behind NAT64.
  refused.addSubnet(`::ffff:${network}`, 96 + bits, "ipv6");
  refused.addSubnet(`${translated}${network}`, 96 + bits, "ipv6");
}
for (const [network, bits] of refusedRanges6) refused.addSubnet(network, bits, "ipv6");

/** False for everything but a literal public address. */
export function isPublicAddress(address: string): boolean {
  // A zone ("fe80::1%eth0") belongs to the local link.
  if (address.includes("%")) return false;
  const family = isIP(address);
  if (family === 0) return false;
  return !refused.check(address, family === 4 ? "ipv4" : "ipv6");
}
