import {
  type ProviderPreset,
  type ProviderRecord,
  type ProviderType,
  type PutProviderBody,
  providerTypes,
} from "@gantry/sdk";

/** The table without its literal types. */
export const presetOf = (type: ProviderType): ProviderPreset => providerTypes[type];

export const allTypes = Object.keys(providerTypes) as ProviderType[];

export interface ProviderDraft {
  name: string;
  url: string;
  /** The name of a stored secret; empty: the key below is stored as a new one. */
  secret: string;
  key: string;
  /** A line each: `name: value`. */
  headers: string;
  query: string;
}

/** `base`, or the first free one of `base-2`, `base-3` and so on. */
export function freeName(base: string, taken: readonly string[]): string {
  let name = base;
  for (let n = 2; taken.includes(name); n++) name = `${base}-${n}`;
  return name;
}

export function nameFaultOf(name: string, taken: readonly string[]): string | undefined {
  if (taken.includes(name)) return "A provider with this name exists";
  return /^[a-z0-9][a-z0-9._-]{0,39}$/.test(name)
    ? undefined
    : "Use up to 40 lowercase letters, digits, dots, underscores and hyphens, starting with a letter or digit";
}

export function newDraft(type: ProviderType, taken: readonly string[]): ProviderDraft {
  const { url = "", isHosted } = presetOf(type);
  return { name: freeName(type, taken), url: isHosted ? "" : url, secret: "", key: "", headers: "", query: "" };
}

export function draftOf({ name, type, url, secret, headers, query }: ProviderRecord): ProviderDraft {
  const address = url ?? newDraft(type, []).url;
  return { name, url: address, secret: secret ?? "", key: "", headers: linesOf(headers), query: linesOf(query) };
}

export function linesOf(texts: Readonly<Record<string, string>>): string {
  return Object.entries(texts)
    .map(([name, text]) => `${name}: ${text}`)
    .join("\n");
}

/** Reads lines of `name: value`. The fault names the first line without a colon. */
export function textsIn(lines: string): { texts: Record<string, string> } | { fault: string } {
  const given = lines
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const wrong = given.find((line) => !/^[^:\s]+\s*:\s*\S/.test(line));
  if (wrong !== undefined) return { fault: `Write "${wrong}" as name: value` };
  const texts = given.map((line) => {
    const at = line.indexOf(":");
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
  });
  return { texts: Object.fromEntries(texts) };
}

/** `secret`: the name under which the key is stored, if the provider has one. */
export function bodyOf(type: ProviderType, draft: ProviderDraft, secret: string | undefined): PutProviderBody {
  const url = withScheme(draft.url.trim());
  const [headers, query] = [draft.headers, draft.query].map((lines) => {
    const read = textsIn(lines);
    return "texts" in read && Object.keys(read.texts).length > 0 ? read.texts : undefined;
  });
  return {
    type,
    ...(url !== "" && { url }),
    ...(secret !== undefined && { secret }),
    ...(headers && { headers }),
    ...(query && { query }),
  };
}

/** People type addresses as `gpu:8000`. */
function withScheme(address: string): string {
  if (address === "" || address.includes("://") || !/^[\w.[]/.test(address)) return address;
  return `${isPrivateAddress(`http://${address}`) ? "http" : "https"}://${address}`;
}

/** An address that only the server's own network reaches. */
export function isPrivateAddress(text: string): boolean {
  const host = URL.parse(text.trim())?.hostname.replace(/^\[|\]$/g, "");
  if (host === undefined || host === "") return false;
  if (host === "localhost" || /\.(?:local|internal|lan|localhost)$/.test(host) || !/[.:]/.test(host)) return true;
  return /^(?:127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.|::1?$|f[cd][\da-f]{2}:|fe80:)/.test(
    host,
  );
}

/** Of the address of a service that Gantry calls. */
export function addressHint(url: string): string {
  const seen = "As seen from the machine that runs Gantry.";
  return isPrivateAddress(url) ? `${seen} Private addresses work only if the operator allows them.` : seen;
}
