import { type LookupAddress, type LookupOptions, lookup as resolve } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import { isPublicAddress } from "./address-rules.ts";
import { type Connect, type ConnectOptions, createConnect, hostOf } from "./http1/connect.ts";
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

/** Trusts the usual authorities and those of `ca` (PEM). Made once: reading the certificates takes longer than a connect. */
export function trusting(ca: string): SecureContext {
  return createSecureContext({ ca: [...getCACertificates("default"), ca] });
}

/** Refuses, at connect time, what is not public. */
export function createGuardedConnect(options: Omit<ConnectOptions, "lookup">): Connect {
  const connect = createConnect({ ...options, lookup: guardedLookup });
  return (url, events) => {
    const host = hostOf(url);
    // No lookup takes place for a literal address.
    if (isIP(host) === 0 || isPublicAddress(host)) return connect(url, events);
    const refusal = setImmediate(() => events.onFailed(new AddressRefused()));
    return { cancel: () => clearImmediate(refusal) };
  };
}
