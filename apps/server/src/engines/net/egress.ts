import { hostOf, portOf } from "./http1/connect.ts";
import { type EgressProxy, readProxy } from "./http1/tunnel.ts";
import { readNoProxy } from "./no-proxy.ts";

/** Addresses of HTTP proxies by the scheme of the call. May contain credentials. */
export interface EgressOptions {
  http?: string | undefined;
  https?: string | undefined;
  /** In the format of NO_PROXY. */
  except?: string | undefined;
}

/** The proxy for a call, or undefined for a direct connection. */
export type ProxyFor = (url: URL) => EgressProxy | undefined;

export function createProxyFor({ http, https, except = "" }: EgressOptions): ProxyFor | undefined {
  if (http === undefined && https === undefined) return undefined;
  const proxies = {
    http: http === undefined ? undefined : readProxy(http),
    https: https === undefined ? undefined : readProxy(https),
  };
  const isExcept = readNoProxy(except);
  return (url) => {
    const proxy = url.protocol === "https:" ? proxies.https : proxies.http;
    return proxy && !isExcept(hostOf(url), portOf(url)) ? proxy : undefined;
  };
}
