import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { type NetworkEntry, parseNetworkEntry } from "../kernel/network-entry.ts";
import { engineAddress, type Setting, WrongSetting, wrong } from "./setting-kinds.ts";

const networks =
  "1, 0, or host names, IP addresses and networks with optional ports, separated by commas " +
  "(127.0.0.1:8188, 10.20.0.0/16, gpu.lan:8000, [fd00::]/8)";

/** `1` for all, `0` for none, or a list. */
export const privateNetworks = (meaning: string): Setting<boolean | readonly NetworkEntry[]> => ({
  meaning,
  shown: "0",
  takes: networks,
  read(given) {
    if (given === undefined || given === "0" || given === "false") return false;
    if (given === "1" || given === "true") return true;
    const parts = given.split(/[\s,]+/).filter((part) => part !== "");
    return parts.map((part) => entryOf(part) ?? wrong(`must be ${networks}, not ${part.slice(0, 100)}`));
  },
});

/** A bare word is more likely a mistyped flag ("yes") than a host: a name without a dot needs a port. */
function entryOf(part: string): NetworkEntry | undefined {
  const entry = parseNetworkEntry(part);
  if (entry?.kind === "name" && entry.port === undefined && !/\.|^localhost$/.test(entry.name)) return undefined;
  return entry;
}

const ofProxies = ["http:", "https:"];

/** A proxy as other programs name it: without a scheme, it is http. */
export const proxyAddress = (meaning: string): Setting<string | undefined> => {
  const { read, ...described } = engineAddress(meaning, ofProxies, ({ pathname, search }) => {
    if (pathname !== "/" || search !== "") wrong("must end with the host and port, without a path");
  });
  return { ...described, read: (given) => read(given?.includes("://") === false ? `http://${given}` : given) };
};

export const egressProxy = (meaning: string): Setting<string | "off" | undefined> => {
  const { read, takes, ...described } = proxyAddress(meaning);
  return { ...described, takes: `${takes}, or off`, read: (given) => (given === "off" ? given : read(given)) };
};

export const certificates = (meaning: string): Setting<string | undefined> => ({
  meaning,
  shown: "unset",
  takes: "a path",
  read: readCertificates,
});

/** Reads the certificates at start, so that a wrong file fails here and not at the first call. */
function readCertificates(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    const pem = readFileSync(path, "utf8");
    const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    for (const one of found) new X509Certificate(one);
    return found.length > 0 ? found.join("\n") : wrong(`names ${path}, which contains no PEM certificate`);
  } catch (error) {
    if (error instanceof WrongSetting) throw error;
    return wrong(`names ${path}, which cannot be read as PEM certificates: ${(error as Error).message}`);
  }
}
