import { type BackendConfig, withSecrets } from "@gantry/wire";
import type { Net, NetRequest } from "../net/net.ts";
import { createMask, type Mask } from "./mask.ts";

/** The secrets of a backend, already revealed. */
export interface RevealedSecrets {
  /** The value of `secret`: the protocol decides in which header it is sent. */
  key: string | undefined;
  /** By name, for `headers` and `query`. */
  secrets: ReadonlyMap<string, string>;
}

/** How a driver reaches its backend. */
export interface BackendAccess {
  /** Adds the headers and the query of the manifest to calls of the backend's own server. */
  net: Net;
  key: string | undefined;
  mask: Mask;
}

export function openAccess(
  net: Net,
  { url, headers, query }: Pick<BackendConfig, "url" | "headers" | "query">,
  { key, secrets }: RevealedSecrets,
): BackendAccess {
  const fixed = { headers: withSecrets(headers, secrets), query: withSecrets(query, secrets) };
  return { net: withFixedParts(net, url, fixed), key, mask: createMask([key, ...secrets.values()]) };
}

interface FixedParts {
  /** Names are in lower case. */
  headers: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
}

/** A link that carries its own permission. S3 refuses further parameters in it, and a second credential. */
const signed = /[?&](?:x-amz-signature|x-goog-signature|signature|sig)=/i;

/**
 * Bound to the origin of `base`: an answer may name files on other servers, which must not receive credentials. Nothing
 * follows a redirect (see Net).
 */
function withFixedParts(net: Net, base: string | undefined, { headers, query }: FixedParts): Net {
  const names = new Set(Object.keys(headers));
  const parameters = Object.entries(query);
  const origin = base === undefined ? undefined : URL.parse(base)?.origin;
  if ((names.size === 0 && parameters.length === 0) || origin === undefined) return net;

  function complete<Request extends NetRequest>(request: Request): Request {
    const url = typeof request.url === "string" ? URL.parse(request.url) : new URL(request.url);
    if (url === null || url.origin !== origin || signed.test(url.search)) return request;
    const address = parameters.length === 0 ? request.url : addressOf(url);
    return { ...request, url: address, headers: headersOf(request.headers) };
  }

  function headersOf(given: NetRequest["headers"] = {}): NetRequest["headers"] {
    const kept = Object.entries(given).filter(([name]) => !names.has(name.toLowerCase()));
    return Object.fromEntries([...kept, ...Object.entries(headers)]);
  }

  function addressOf(url: URL): string {
    for (const [name, value] of parameters) url.searchParams.set(name, value);
    // Not every server reads a plus sign as a space.
    url.search = url.searchParams.toString().replaceAll("+", "%20");
    return url.href;
  }

  return {
    request: (request) => net.request(complete(request)),
    dispatch: (request, handler) => net.dispatch(complete(request), handler),
    download: (url, options) => net.download(url, options),
    close: () => net.close(),
  };
}
