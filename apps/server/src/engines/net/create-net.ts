import type { Dispatcher } from "undici";
import type { BoundedOptions } from "./bounded-exchange.ts";
import { download } from "./download.ts";
import { type ConnectOptions, createGuardedConnect, createOpenConnect, trusting } from "./guarded-connect.ts";
import type { Net, NetBounds, NetHandler, NetRequest, NetResponse } from "./net.ts";
import { type BoundedPool, Pools } from "./pools.ts";
import { Receiver } from "./receive.ts";
import { type Target, Targets } from "./targets.ts";

export interface NetOptions {
  /** Lets every call reach private and loopback addresses. */
  allowPrivateNetwork: boolean;
  /** Origins (or whole addresses) that the operator set: not checked. */
  exempt?: readonly string[];
  maxOrigins?: number;
  maxConnectionsPerOrigin?: number;
  maxHeaderBytes?: number;
  connectMs?: number;
  /** Certificates in PEM that the operator trusts beside the usual authorities. */
  ca?: string;
}

const defaultBounds: NetBounds = { totalMs: 60_000, headersMs: 60_000, idleMs: 30_000, maxBytes: 32 * 1024 * 1024 };

type Exchange = Dispatcher.RequestOptions & BoundedOptions;

export function createNet(options: NetOptions): Net {
  const { maxOrigins = 256, maxConnectionsPerOrigin = 1024, maxHeaderBytes = 16_384, connectMs = 10_000 } = options;
  const exempt = new Set((options.exempt ?? []).map((address) => new URL(address).origin));
  const sizes = { maxOrigins, maxConnectionsPerOrigin, maxHeaderBytes };
  const connecting: ConnectOptions = {
    connectMs,
    ...(options.ca !== undefined && { secureContext: trusting(options.ca) }),
  };
  const open = new Pools({ ...sizes, connect: createOpenConnect(connecting) });
  const guarded = new Pools({ ...sizes, connect: createGuardedConnect(connecting) });
  const targets = new Targets();

  function poolFor(origin: string, redirected: boolean): BoundedPool {
    const free = options.allowPrivateNetwork || (!redirected && exempt.has(origin));
    return (free ? open : guarded).for(origin);
  }

  function request(call: NetRequest, redirected = false): Promise<NetResponse> {
    return new Promise((resolve, reject) => {
      call.signal?.throwIfAborted();
      const target = targets.of(call.url);
      // The caller's reason for an abort arrives as it is.
      const refuse = (error: Error) => reject(call.signal?.aborted ? call.signal.reason : error);
      poolFor(target.origin, redirected).dispatch(exchangeOf(call, target), new Receiver(resolve, refuse));
    });
  }

  return {
    request: (call) => request(call),

    dispatch(call, handler) {
      try {
        call.signal?.throwIfAborted();
        const target = targets.of(call.url);
        poolFor(target.origin, false).dispatch(exchangeOf(call, target), asDispatchHandler(handler));
      } catch (error) {
        handler.onResponseError(error instanceof Error ? error : new Error("The call was aborted", { cause: error }));
      }
    },

    download: (url, limits) => download(request, url, limits),

    async close() {
      await Promise.all([open.destroy(), guarded.destroy()]);
    },
  };
}

function asDispatchHandler(handler: NetHandler): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (controller) => handler.onRequestStart?.(controller),
    onResponseStart: (controller, status, headers) => handler.onResponseStart(controller, status, headers),
    onResponseData: (controller, chunk) => handler.onResponseData(controller, chunk),
    onResponseEnd: () => handler.onResponseEnd(),
    onResponseError: (_controller, error) => handler.onResponseError(error),
  };
}

function exchangeOf(call: NetRequest, target: Target): Exchange {
  const bounds = { ...defaultBounds, ...call.bounds };
  return {
    path: target.path,
    method: call.method ?? "GET",
    headers: call.headers ?? {},
    body: call.body ?? null,
    headersTimeout: Math.min(bounds.headersMs, bounds.totalMs),
    bodyTimeout: Math.min(bounds.idleMs, bounds.totalMs),
    bounds,
    stopSignal: call.signal,
  };
}
