import type { NetworkEntry } from "../../kernel/network-entry.ts";
import { AllowedNetworks } from "./allowed-networks.ts";
import { download } from "./download.ts";
import { createProxyFor, type EgressOptions } from "./egress.ts";
import { createGuardedConnect, createProxiedConnect, trusting } from "./guarded-connect.ts";
import { type Connect, createConnect } from "./http1/connect.ts";
import { Exchange } from "./http1/exchange.ts";
import type { Origin } from "./http1/origin.ts";
import { giveUpBody } from "./http1/send-body.ts";
import type { Net, NetBounds, NetHandler, NetRequest, NetResponse } from "./net.ts";
import { Origins } from "./origins.ts";
import { Receiver } from "./received-body.ts";
import { Targets } from "./targets.ts";

export interface NetOptions {
  /** Allows private and loopback addresses for all calls: every one, or those of the list. */
  allowPrivateNetwork: boolean | readonly NetworkEntry[];
  /** Origins (or whole addresses) set by the operator, which are not checked. */
  exempt?: readonly string[];
  maxOrigins?: number;
  maxConnectionsPerOrigin?: number;
  maxHeaderBytes?: number;
  connectMs?: number;
  /** PEM certificates that are trusted in addition to the usual authorities. */
  ca?: string;
  /** HTTP proxies for calls to public servers. */
  egress?: EgressOptions;
}

const defaultBounds: NetBounds = { totalMs: 60_000, headersMs: 60_000, idleMs: 30_000, maxBytes: 32 * 1024 * 1024 };

export function createNet(options: NetOptions): Net {
  const { maxOrigins = 256, maxConnectionsPerOrigin = 1024, maxHeaderBytes = 16_384, connectMs = 10_000 } = options;
  const exempt = new Set((options.exempt ?? []).map((address) => new URL(address).origin));
  const sizes = { maxConnections: maxConnectionsPerOrigin, maxHeadBytes: maxHeaderBytes };
  const connecting = { connectMs, ...(options.ca !== undefined && { secureContext: trusting(options.ca) }) };
  const allowed = new AllowedNetworks(Array.isArray(options.allowPrivateNetwork) ? options.allowPrivateNetwork : []);
  const proxyFor = createProxyFor(options.egress ?? {});
  const origins = (guard: AllowedNetworks | undefined): Origins => {
    const connect = createConnect(connecting);
    const direct: Connect = guard ? createGuardedConnect(connect, guard) : (url, events) => connect(url, events);
    const routed = proxyFor ? createProxiedConnect(connect, direct, { proxyFor, allowed: guard }) : direct;
    return new Origins(maxOrigins, { ...sizes, connect: routed });
  };
  const open = origins(undefined);
  const guarded = origins(allowed);
  const targets = new Targets();

  function originFor(name: string, redirected: boolean): Origin {
    const free = options.allowPrivateNetwork === true || (!redirected && exempt.has(name));
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
