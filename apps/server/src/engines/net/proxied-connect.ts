import { lookup } from "node:dns";
import { isPublicAddress } from "./address-rules.ts";
import { type Connect, type Connecting, type ConnectOptions, createConnect, hostOf } from "./http1/connect.ts";
import type { EgressProxy } from "./http1/tunnel.ts";
import { AddressRefused } from "./net.ts";

/**
 * Reaches public servers through the operator's proxy. Private addresses, and names that resolve to one, are refused
 * where the call is guarded, and connected to directly where it is not. A name that does not resolve here goes to the
 * proxy, which resolves it again in any case: only the proxy can then refuse a name that changes its address.
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
