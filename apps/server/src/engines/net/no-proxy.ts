import { isIP } from "node:net";
import { containsAddress, type NetworkEntry, parseNetworkEntry, withoutFinalDot } from "../../kernel/network-entry.ts";

/**
 * Reads NO_PROXY as curl does: a name stands for its subdomains too, a leading dot or `*.` changes nothing, networks match
 * literal addresses only. A port after an entry limits it, as in undici. Entries of other forms match nothing, because the
 * variable is shared with other programs.
 */
export function readNoProxy(text: string): (host: string, port: number) => boolean {
  const parts = text.split(/[\s,]+/).filter((part) => part !== "");
  if (parts.includes("*")) return () => true;
  const entries = parts.flatMap((part) => parseNetworkEntry(part.replace(/^\*?\./, "")) ?? []);
  return (host, port) => entries.some((entry) => isExcept(entry, host, port));
}

function isExcept(entry: NetworkEntry, host: string, port: number): boolean {
  if (entry.kind === "range") return containsAddress(entry, host, port);
  if (isIP(host) !== 0 || (entry.port !== undefined && entry.port !== port)) return false;
  const name = withoutFinalDot(host.toLowerCase());
  return name === entry.name || name.endsWith(`.${entry.name}`);
}
