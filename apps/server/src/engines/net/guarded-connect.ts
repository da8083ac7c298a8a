import { type LookupAddress, type LookupOptions, lookup as resolve } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import { buildConnector } from "undici";
import { isPublicAddress } from "./address-rules.ts";
import { AddressRefused } from "./net.ts";

/**
 * Resolves as usual, then drops every address that is not public. The socket connects to what is handed over here and
 * to nothing else, so the name cannot resolve differently between check and use.
 */
const guardedLookup: LookupFunction = (hostname, options, callback) => {
  const all: LookupOptions = { ...options, all: true };
  resolve(hostname, all, (error: NodeJS.ErrnoException | null, found: string | LookupAddress[]) => {
    if (error) return callback(error, "", 0);
    const addresses = typeof found === "string" ? [] : found;
    const open = addresses.filter((each) => isPublicAddress(each.address));
    const [first] = open;
    if (!first) return callback(new AddressRefused(), "", 0);
    if (options.all) callback(null, open);
    else callback(null, first.address, first.family);
  });
};

export interface ConnectOptions {
  connectMs: number;
  /** Whom to trust, when that is more than the usual authorities. */
  secureContext?: SecureContext;
}

/** Trusts the usual authorities and those of `ca` (PEM). Made once: reading the certificates takes longer than a connect. */
export function trusting(ca: string): SecureContext {
  return createSecureContext({ ca: [...getCACertificates("default"), ca] });
}

/** Makes connections for undici; refuses, at connect time, what is not public. */
export function createGuardedConnect({ connectMs, ...tls }: ConnectOptions): buildConnector.connector {
  const connect = buildConnector({ allowH2: false, timeout: connectMs, lookup: guardedLookup, ...tls });
  return (target, callback) => {
    // No lookup takes place for a literal address.
    if (isIP(target.hostname) !== 0 && !isPublicAddress(target.hostname)) {
      callback(new AddressRefused(), null);
      return;
    }
    connect(target, callback);
  };
}

/** For addresses that the operator set, and for everything where private networks are allowed. */
export function createOpenConnect({ connectMs, ...tls }: ConnectOptions): buildConnector.connector {
  return buildConnector({ allowH2: false, timeout: connectMs, ...tls });
}
