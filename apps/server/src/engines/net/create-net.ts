import { download } from "./download.ts";
import { createGuardedConnect, createProxiedConnect, trusting } from "./guarded-connect.ts";
import { createConnect } from "./http1/connect.ts";
import { Exchange } from "./http1/exchange.ts";
import type { Origin } from "./http1/origin.ts";
import { giveUpBody } from "./http1/send-body.ts";
import { readProxy } from "./http1/tunnel.ts";
import type { Net, NetBounds, NetHandler, NetRequest, NetResponse } from "./net.ts";
import { Origins } from "./origins.ts";
import { Receiver } from "./received-body.ts";
import { Targets } from "./targets.ts";

export interface NetOptions {
  /** Allows private and loopback addresses for all calls. */
  allowPrivateNetwork: boolean;
  /** Origins (or whole addresses) set by the operator, which are not checked. */
  exempt?: readonly string[];
  maxOrigins?: number;
  maxConnectionsPerOrigin?: number;
  maxHeaderBytes?: number;
  connectMs?: number;
  /** PEM certificates that are trusted in addition to the usual authorities. */
  ca?: string;
  /** An HTTP proxy for calls to public servers. May contain credentials. */
  egressProxy?: string;
}

const defaultBounds: NetBounds = { totalMs: 60_000, headersMs: 60_000, idleMs: 30_000, maxBytes: 32 * 1024 * 1024 };

export function createNet(options: NetOptions): Net {
  const { maxOrigins = 256, maxConnectionsPerOrigin = 1024, maxHeaderBytes = 16_384, connectMs = 10_000 } = options;
  const exempt = new Set((options.exempt ?? []).map((address) => new URL(address).origin));
  const sizes = { maxConnections: maxConnectionsPerOrigin, maxHeadBytes: maxHeaderBytes };
  const connecting = { connectMs, ...(options.ca !== undefined && { secureContext: trusting(options.ca) }) };
  const proxy = options.egressProxy === undefined ? undefined : readProxy(options.egressProxy);
  const proxied = proxy && { ...connecting, proxy };
  const open = new Origins(maxOrigins, {
    ...sizes,
    connect: proxied ? createProxiedConnect(proxied, { guarded: false }) : createConnect(connecting),
  });
  const guarded = new Origins(maxOrigins, {
    ...sizes,
    connect: proxied ? createProxiedConnect(proxied, { guarded: true }) : createGuardedConnect(connecting),
  });
  const targets = new Targets();

  function originFor(name: string, redirected: boolean): Origin {
    const free = options.allowPrivateNetwork || (!redirected && exempt.has(name));
    return (free ? open : guarded).for(name);
  }

  /** Throws if nothing can be sent. The handler receives later errors. */
  function start(call: NetRequest, handler: NetHandler, redirected: boolean): void {
    const { url, method = "GET", headers = {}, body, signal } = call;
    try {
      signal?.throwIfAborted();
      const { origin: name, path } = targets.of(url);
      const origin = originFor(name, redirected);
      const bounds = { ...defaultBounds, ...call.bounds };
      origin.dispatch(new Exchange({ method, path, headers, body }, origin.host, { handler, bounds, signal }));
    } catch (error) {
      giveUpBody(body);
      throw error;
    }
  }

  function request(call: NetRequest, redirected = false): Promise<NetResponse> {
    return new Promise((resolve, reject) => {
      // The caller's reason of an abort is passed on unchanged.
      const refuse = (error: Error) => reject(call.signal?.aborted ? call.signal.reason : error);
      start(call, new Receiver(resolve, refuse), redirected);
    });
  }

  return {
    request: (call) => request(call),

    dispatch(call, handler) {
      try {
        start(call, handler, false);
      } catch (error) {
        handler.onResponseError(error instanceof Error ? error : new Error("The call was aborted", { cause: error }));
      }
    },

    download: (url, limits) => download(request, url, limits),

    async close() {
      open.destroy();
      guarded.destroy();
    },
  };
}
