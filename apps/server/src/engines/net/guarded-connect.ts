import { type LookupAddress, type LookupOptions, lookup, lookup as resolve } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import { isPublicAddress } from "./address-rules.ts";
import { type Connect, type Connecting, type ConnectOptions, createConnect, hostOf } from "./http1/connect.ts";
import type { EgressProxy } from "./http1/tunnel.ts";
import { AddressRefused } from "./net.ts";

/**
 * Drops every resolved address that is not public. The socket connects only to these addresses, so the name cannot resolve
 * differently between check and use.
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

/** Trusts the usual authorities and `ca` (PEM). Created once, because reading the certificates takes longer than a connect. */
export function trusting(ca: string): SecureContext {
  return createSecureContext({ ca: [...getCACertificates("default"), ca] });
}

/** Refuses addresses that are not public, at connect time. */
export function createGuardedConnect(options: Omit<ConnectOptions, "lookup">): Connect {
  const connect = createConnect({ ...options, lookup: guardedLookup });
  return (url, events) => {
    const host = hostOf(url);
    // A literal address is not looked up.
    if (isIP(host) === 0 || isPublicAddress(host)) return connect(url, events);
    const refusal = setImmediate(() => events.onFailed(new AddressRefused()));
    return { cancel: () => clearImmediate(refusal) };
  };
}

/**
 * Reaches public servers through the operator's proxy. Private addresses, and names that resolve to one, are refused for
 * guarded calls and connected directly for others. The proxy resolves names again, so only the proxy can refuse a name that
 * changes its address. Names that do not resolve here go to the proxy.
 */
export function createProxiedConnect(
  options: Omit<ConnectOptions, "lookup"> & { proxy: EgressProxy },
  { guarded }: { guarded: boolean },
): Connect {
  const { proxy, ...direct } = options;
  const connectDirectly = createConnect(direct);
  const connectByProxy = createConnect({ ...direct, proxy });
  return (url, events) => {
    let connecting: Connecting | undefined;
    let isCancelled = false;
    lookup(hostOf(url), { all: true }, (error, found) => {
      if (isCancelled) return;
      const isPrivate = !error && found.some(({ address }) => !isPublicAddress(address));
      if (isPrivate && guarded) events.onFailed(new AddressRefused());
      else connecting = (isPrivate ? connectDirectly : connectByProxy)(url, events);
    });
    return {
      cancel() {
        isCancelled = true;
        connecting?.cancel();
      },
    };
  };
}
