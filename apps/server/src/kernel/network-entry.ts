import { BlockList, isIP } from "node:net";

/** A host name, an IP address or a network, with an optional port: `gpu.lan:8000`, `10.20.0.0/16`, `[fd00::]/8:8000`. */
export type NetworkEntry = NameEntry | RangeEntry;

interface NameEntry {
  kind: "name";
  /** Lower case, without a final dot. */
  name: string;
  port: number | undefined;
}

interface RangeEntry {
  kind: "range";
  range: BlockList;
  /** One address and not a network. */
  isSingle: boolean;
  port: number | undefined;
}

const bracketed = /^\[([0-9a-f:.]+)(?:\/(\d{1,3}))?\](?:\/(\d{1,3}))?(?::(\d{1,5}))?$/;
const bareIpv6 = /^((?:[0-9a-f.]*:){2}[0-9a-f:.]*)(?:\/(\d{1,3}))?$/;
const other = /^([^/:[\]]+)(?:\/(\d{1,3}))?(?::(\d{1,5}))?$/;
const hostName = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/;
/** URL parsers read such a name as an IPv4 address. */
const numericEnd = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;

/** Undefined if the text is not an entry. */
export function parseNetworkEntry(text: string): NetworkEntry | undefined {
  const given = text.trim().toLowerCase();
  const inBrackets = bracketed.exec(given);
  if (inBrackets) {
    const [, address = "", inner, outer, port] = inBrackets;
    if (isIP(address) !== 6 || (inner !== undefined && outer !== undefined)) return undefined;
    return rangeOf(address, inner ?? outer, port);
  }
  const [, host = "", bits, port] = (bareIpv6.exec(given) ?? other.exec(given) ?? []) as (string | undefined)[];
  if (isIP(host) !== 0) return rangeOf(host, bits, port);
  const name = withoutFinalDot(host);
  if (bits !== undefined || !isPort(port) || !hostName.test(name) || numericEnd.test(name)) return undefined;
  return { kind: "name", name, port: numberOf(port) };
}

function rangeOf(address: string, bits: string | undefined, port: string | undefined): RangeEntry | undefined {
  const family = isIP(address) === 4 ? "ipv4" : "ipv6";
  const most = family === "ipv4" ? 32 : 128;
  const length = numberOf(bits) ?? most;
  if (length > most || !isPort(port)) return undefined;
  const range = new BlockList();
  range.addSubnet(address, length, family);
  return { kind: "range", range, isSingle: length === most, port: numberOf(port) };
}

const numberOf = (digits: string | undefined) => (digits === undefined ? undefined : Number(digits));
const isPort = (digits: string | undefined) =>
  digits === undefined || (Number(digits) >= 1 && Number(digits) <= 65_535);

export function withoutFinalDot(host: string): string {
  return host.endsWith(".") ? host.slice(0, -1) : host;
}

/** True if the entry is this address or contains it. IPv4 addresses written as IPv6 count as IPv4. */
export function containsAddress(entry: NetworkEntry, address: string, port: number): boolean {
  const family = isIP(address);
  // A zone ("fe80::1%eth0") names an interface, which no entry can.
  if (entry.kind !== "range" || family === 0 || address.includes("%")) return false;
  if (entry.port !== undefined && entry.port !== port) return false;
  return entry.range.check(address, family === 4 ? "ipv4" : "ipv6");
}

export function isNamed(entry: NetworkEntry, host: string, port: number): boolean {
  if (entry.kind !== "name" || (entry.port !== undefined && entry.port !== port)) return false;
  return entry.name === withoutFinalDot(host.toLowerCase());
}
