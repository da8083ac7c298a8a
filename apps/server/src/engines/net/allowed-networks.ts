import { BlockList, isIP } from "node:net";
import { containsAddress, isNamed, type NetworkEntry } from "../../kernel/network-entry.ts";
import { isPublicAddress } from "./address-rules.ts";
import { AddressRefused } from "./net.ts";

/**
 * Link-local addresses and the metadata services of clouds give credentials of the machine to anyone who asks. A network or
 * a name in the list never includes them: only an entry for the address itself does.
 */
const metadataRanges4: readonly (readonly [network: string, bits: number])[] = [
  ["169.254.0.0", 16], // link-local: most clouds
  ["100.96.0.96", 32], // Volcengine
  ["100.100.100.200", 32], // Alibaba Cloud
  ["168.63.129.16", 32], // Azure WireServer
  ["192.0.0.192", 32], // Oracle Cloud
];
const metadataRanges6: readonly (readonly [network: string, bits: number])[] = [
  ["fe80::", 10], // link-local
  ["fd00:42::42", 128], // Scaleway
  ["fd00:100::100:200", 128], // Alibaba Cloud
  ["fd00:a9fe:a9fe::1", 128], // Akamai
  ["fd00:c1::a9fe:a9fe", 128], // Oracle Cloud
  ["fd00:ec2::", 32], // AWS
  ["fd20:ce::", 32], // Google Cloud
  ["2002:a9fe::", 32], // 169.254.0.0/16 over 6to4
];

const metadata = new BlockList();
for (const [network, bits] of metadataRanges4) {
  // IPv4-compatible, mapped, translated and NAT64 forms of the same address.
  for (const prefix of ["::", "::ffff:", "::ffff:0:", "64:ff9b::", "64:ff9b:1::"]) {
    metadata.addSubnet(`${prefix}${network}`, 96 + bits, "ipv6");
  }
  metadata.addSubnet(network, bits, "ipv4");
}
for (const [network, bits] of metadataRanges6) metadata.addSubnet(network, bits, "ipv6");

function isMetadata(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && metadata.check(address, family === 4 ? "ipv4" : "ipv6");
}

/** Names that can only exist inside a network: the proxy must not be asked to resolve them for a user. */
const internalName =
  /^[^.]+$|(?:^|\.)(?:localhost|local|localdomain|internal|intranet|private|lan|home|corp|home\.arpa)$/;

/** A requested host and port, as in the address of the call. */
export interface Place {
  host: string;
  port: number;
}

/** Decides which addresses calls of users may reach besides public ones. */
export class AllowedNetworks {
  readonly #entries: readonly NetworkEntry[];

  constructor(entries: readonly NetworkEntry[]) {
    this.#entries = entries;
  }

  allows(address: string, { host, port }: Place): boolean {
    if (isPublicAddress(address)) return true;
    const isStrict = isMetadata(address);
    return this.#entries.some((entry) =>
      entry.kind === "name"
        ? !isStrict && !address.includes("%") && isNamed(entry, host, port)
        : (entry.isSingle || !isStrict) && containsAddress(entry, address, port),
    );
  }

  /** For a name that does not resolve on this machine. */
  allowsUnresolved({ host, port }: Place): boolean {
    const name = host.replace(/\.$/, "");
    return !internalName.test(name) || this.#entries.some((entry) => isNamed(entry, name, port));
  }

  refusal({ host, port }: Place, addresses: readonly string[] = []): AddressRefused {
    if (isIP(host) === 0 && addresses.some(isMetadata)) return new AddressRefused();
    return new AddressRefused(`${isIP(host) === 6 ? `[${host}]` : host}:${port}`);
  }
}
