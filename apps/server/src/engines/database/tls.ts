import { readFile } from "node:fs/promises";
import { type ConnectionOptions, checkServerIdentity, createSecureContext, getCACertificates } from "node:tls";

export interface Tls {
  options: ConnectionOptions;
  /** Connects without TLS if the server does not support it. */
  isOptional?: boolean;
}

/** `sslmode` as in libpq. Undefined: no TLS. */
export async function readTls(address: URL): Promise<Tls | undefined> {
  const mode = address.searchParams.get("sslmode") ?? "";
  if (mode === "prefer") return { options: { rejectUnauthorized: false }, isOptional: true };
  if (!["require", "verify-ca", "verify-full"].includes(mode)) return undefined;
  return { options: await tlsOptions(mode, address) };
}

async function tlsOptions(mode: string, { hostname, searchParams }: URL): Promise<ConnectionOptions> {
  const root = searchParams.get("sslrootcert");
  const own = {
    ...(root && root !== "system" && { ca: [await read("sslrootcert", root)] }),
    ...(await ownCertificate(searchParams)),
  };
  refuseUnusable(own);
  // With an sslrootcert libpq checks the certificate too.
  if (mode === "require" && !root) return { ...own, rejectUnauthorized: false };
  return {
    ca: [...getCACertificates("default"), ...getCACertificates("system")],
    ...own,
    checkServerIdentity: (_, certificate) =>
      mode === "verify-full" ? checkServerIdentity(hostname.replace(/^\[|\]$/g, ""), certificate) : undefined,
  };
}

async function ownCertificate(given: URLSearchParams): Promise<ConnectionOptions> {
  const [cert, key] = [given.get("sslcert"), given.get("sslkey")];
  return { ...(cert && { cert: await read("sslcert", cert) }), ...(key && { key: await read("sslkey", key) }) };
}

async function read(name: string, file: string): Promise<string> {
  return readFile(file, "utf8").catch((error: Error) => {
    throw new Error(`The ${name} file of DATABASE_URL cannot be read: ${error.message}`, { cause: error });
  });
}

function refuseUnusable(own: ConnectionOptions): void {
  try {
    createSecureContext(own);
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(`The certificates in DATABASE_URL cannot be used: ${reason}`, { cause: error });
  }
}
