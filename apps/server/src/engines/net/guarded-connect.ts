import { type LookupAddress, type LookupOptions, lookup as resolve } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import { isPublicAddress } from "./address-rules.ts";
import type { AllowedNetworks, Place } from "./allowed-networks.ts";
import type { ProxyFor } from "./egress.ts";
import { type Connect, type ConnectBy, type Connecting, hostOf, portOf } from "./http1/connect.ts";
import { createLocalLookup } from "./local-lookup.ts";

/**
 * Drops every resolved address that is not allowed. The socket connects only to the others, so the name cannot resolve
 * differently between check and use.
 */
function guardedLookup(allowed: AllowedNetworks, place: Place): LookupFunction {
  return (hostname, options, callback) => {
    const all: LookupOptions = { ...options, all: true };
    resolve(hostname, all, (error: NodeJS.ErrnoException | null, found: string | LookupAddress[]) => {
      if (error) return callback(error, "", 0);
      const addresses = typeof found === "string" ? [] : found;
      const open = addresses.filter((each) => allowed.allows(each.address, place));
      const [first] = open;
      if (!first) {
        const refused = addresses.map((each) => each.address);
        return callback(allowed.refusal(place, refused), "", 0);
      }
      if (options.all) callback(null, open);
      else callback(null, first.address, first.family);
    });
  };
}

/** Trusts the usual authorities and `ca` (PEM). Created once, because reading the certificates takes longer than a connect. */
export function trusting(ca: string): SecureContext {
  return createSecureContext({ ca: [...getCACertificates("default"), ca] });
}

const placeOf = (url: URL): Place => ({ host: hostOf(url), port: portOf(url) });

/** Refuses addresses that are not allowed, at connect time. */
export function createGuardedConnect(connect: ConnectBy, allowed: AllowedNetworks): Connect {
  return (url, events) => {
    const place = placeOf(url);
    // A literal address is not looked up.
    if (isIP(place.host) === 0 || allowed.allows(place.host, place)) {
      return connect(url, events, { lookup: guardedLookup(allowed, place) });
    }
    const refusal = setImmediate(() => events.onFailed(allowed.refusal(place)));
    return { cancel: () => clearImmediate(refusal) };
  };
}

/**
 * Reaches public servers through the operator's proxy. Private addresses, and names that resolve to one, are connected to
 * directly, where they are allowed. The proxy resolves names again, so only the proxy can refuse a name that changes its
 * address. Names that do not resolve here go to the proxy, except those that only an internal network can have.
 */
export function createProxiedConnect(
  connect: ConnectBy,
  direct: Connect,
  { proxyFor, allowed }: { proxyFor: ProxyFor; allowed: AllowedNetworks | undefined },
): Connect {
  const lookup = createLocalLookup();
  return (url, events) => {
    const proxy = proxyFor(url);
    if (!proxy) return direct(url, events);
    const place = placeOf(url);
    let connecting: Connecting | undefined;
    let isCancelled = false;
    lookup(place.host, (addresses) => {
      if (isCancelled) return;
      if (addresses.some((address) => !isPublicAddress(address))) {
        const isRefused = allowed !== undefined && !addresses.every((address) => allowed.allows(address, place));
        if (isRefused) events.onFailed(allowed.refusal(place, addresses));
        else connecting = direct(url, events);
      } else if (addresses.length === 0 && allowed?.allowsUnresolved(place) === false) {
        events.onFailed(allowed.refusal(place));
      } else connecting = connect(url, events, { proxy });
    });
    return {
      cancel() {
        isCancelled = true;
        connecting?.cancel();
      },
    };
  };
}
