import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type ConnectionOptions, connect as openSecure } from "node:tls";
import { isPublicAddress } from "./address-rules.ts";
import { createProxyFor, type EgressOptions, type ProxyFor } from "./egress.ts";
import { type EgressProxy, openTunnel } from "./http1/tunnel.ts";
import { createLocalLookup } from "./local-lookup.ts";
import { NetError } from "./net.ts";

interface Target {
  host: string;
  port: number;
}

type OnConnected = (error: Error | null, socket: Duplex) => void;

/** Decides on the proxy for each connection as calls of users do, without their guard: the operator has set the address. */
class Tunnels {
  readonly #proxyFor: ProxyFor;
  readonly #connectMs: number;
  readonly #lookup = createLocalLookup();

  constructor(proxyFor: ProxyFor, connectMs: number) {
    this.#proxyFor = proxyFor;
    this.#connectMs = connectMs;
  }

  proxyFor(protocol: "http:" | "https:", { host, port }: Target): EgressProxy | undefined {
    return this.#proxyFor(new URL(`${protocol}//${host.includes(":") ? `[${host}]` : host}:${port}`));
  }

  open(
    proxy: EgressProxy,
    { host, port }: Target,
    ends: { direct(): void; onOpen(socket: Socket): void; onFailed(error: Error): void },
  ): void {
    this.#lookup(host, (addresses) => {
      if (addresses.some((address) => !isPublicAddress(address))) return ends.direct();
      let isSettled = false;
      const settle = (end: () => void) => {
        clearTimeout(timer);
        if (!isSettled) end();
        isSettled = true;
      };
      const fail = (error: Error) =>
        settle(() => {
          socket.destroy();
          ends.onFailed(error);
        });
      const timer = setTimeout(
        () => fail(new NetError("timeout", `The egress proxy ${proxy.name} did not answer in time`)),
        this.#connectMs,
      );
      const target = `${host.includes(":") ? `[${host}]` : host}:${port}`;
      const socket = openTunnel(proxy, target, {
        onOpen: () => settle(() => ends.onOpen(socket)),
        onFailed: fail,
      });
    });
  }
}

class ProxiedHttpAgent extends http.Agent {
  readonly #tunnels: Tunnels;

  constructor(options: http.AgentOptions, tunnels: Tunnels) {
    super(options);
    this.#tunnels = tunnels;
  }

  override createConnection(options: http.ClientRequestArgs, onConnected?: OnConnected): Duplex | null | undefined {
    const target = targetOf(options, 80);
    const proxy = this.#tunnels.proxyFor("http:", target);
    if (!proxy || !onConnected) return super.createConnection(options, onConnected);
    this.#tunnels.open(proxy, target, {
      direct: () => onConnected(null, super.createConnection(options) as Duplex),
      onOpen: (socket) => onConnected(null, socket),
      onFailed: (error) => onConnected(error, undefined as never),
    });
    return undefined;
  }
}

class ProxiedHttpsAgent extends https.Agent {
  readonly #tunnels: Tunnels;

  constructor(options: https.AgentOptions, tunnels: Tunnels) {
    super(options);
    this.#tunnels = tunnels;
  }

  override createConnection(options: https.RequestOptions, onConnected?: OnConnected): Duplex | null | undefined {
    const target = targetOf(options, 443);
    const proxy = this.#tunnels.proxyFor("https:", target);
    if (!proxy || !onConnected) return super.createConnection(options, onConnected);
    this.#tunnels.open(proxy, target, {
      direct: () => onConnected(null, super.createConnection(options) as Duplex),
      onOpen: (socket) => onConnected(null, openSecure({ ...(options as ConnectionOptions), socket })),
      onFailed: (error) => onConnected(error, undefined as never),
    });
    return undefined;
  }
}

function targetOf({ host, port }: http.ClientRequestArgs, usual: number): Target {
  return { host: (host ?? "localhost").replace(/^\[|\]$/g, ""), port: Number(port ?? usual) };
}

/**
 * For libraries that open their own connections with `node:http`. Undefined without a proxy. They trust the authorities of
 * the process (see `compose/trust-extra-ca.ts`).
 */
export function createProxiedAgents(
  egress: EgressOptions,
  options: http.AgentOptions & { connectMs: number },
): { http: http.Agent; https: https.Agent } | undefined {
  const proxyFor = createProxyFor(egress);
  if (!proxyFor) return undefined;
  const { connectMs, ...ofAgents } = options;
  const tunnels = new Tunnels(proxyFor, connectMs);
  return { http: new ProxiedHttpAgent(ofAgents, tunnels), https: new ProxiedHttpsAgent(ofAgents, tunnels) };
}
