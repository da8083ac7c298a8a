import { isIP, type LookupFunction, connect as openPlain, type Socket } from "node:net";
import { connect as openSecure, type SecureContext } from "node:tls";
import { NetError } from "../net.ts";
import { type EgressProxy, openTunnel } from "./tunnel.ts";

export interface Connecting {
  cancel(): void;
}

export interface ConnectEvents {
  /** The first `size` bytes of the buffer are valid during the call. False pauses reading. */
  onRead(size: number, buffer: Buffer): boolean;
  onConnected(socket: Socket): void;
  onFailed(error: Error): void;
}

export type Connect = (url: URL, events: ConnectEvents) => Connecting;

/** How to reach the server: directly, with an optional own lookup, or through a proxy. */
export interface Route {
  lookup?: LookupFunction;
  proxy?: EgressProxy;
}

export type ConnectBy = (url: URL, events: ConnectEvents, route?: Route) => Connecting;

export interface ConnectOptions {
  connectMs: number;
  /** Set if more than the usual authorities are trusted. */
  secureContext?: SecureContext;
}

const keptSessions = 100;
const tlsBufferBytes = 16 * 1024;
/**
 * Shared: plain sockets are read one after the other, and each chunk is handled before the next. TLS may decrypt during
 * other writes, so each TLS connection has its own buffer.
 */
const plainBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/** Without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

export function portOf(url: URL): number {
  return Number(url.port || (url.protocol === "https:" ? 443 : 80));
}

function lateAnswer(proxy: string | undefined): NetError {
  const discreet = "The server did not answer in time";
  return new NetError("timeout", proxy === undefined ? discreet : `${proxy} did not answer in time`, { discreet });
}

/** Sockets reuse their read buffer. Allocating one per chunk costs as much as reading the chunk. */
export function createConnect({ connectMs, secureContext }: ConnectOptions): ConnectBy {
  const sessions = new Map<string, Buffer>();

  return (url, events, { lookup, proxy } = {}) => {
    const host = hostOf(url);
    const isSecure = url.protocol === "https:";
    const onread = {
      buffer: isSecure ? Buffer.allocUnsafeSlow(tlsBufferBytes) : plainBuffer,
      callback: (size: number, buffer: Uint8Array) => events.onRead(size, buffer as Buffer),
    };
    const to = { host, port: portOf(url), noDelay: true, onread, lookup };
    const session = sessions.get(url.host);
    const security = {
      ...(isIP(host) === 0 && { servername: host }),
      ...(session && { session }),
      ...(secureContext && { secureContext }),
      ALPNProtocols: ["http/1.1"],
    };
    let isSettled = false;
    let awaited = proxy && `The egress proxy ${proxy.name}`;
    const timer = setTimeout(() => fail(lateAnswer(awaited)), connectMs);
    let socket = proxy
      ? openTunnel(proxy, `${url.hostname}:${to.port}`, { onOpen: onTunnel, onFailed: fail }, secureContext)
      : prepare(isSecure ? openSecure({ ...to, ...security }) : openPlain(to));

    function settle(): boolean {
      clearTimeout(timer);
      const isFirst = !isSettled;
      isSettled = true;
      return isFirst;
    }
    function fail(error: Error): void {
      if (!settle()) return;
      sessions.delete(url.host);
      socket.destroy();
      events.onFailed(error);
    }
    function prepare(opened: Socket): Socket {
      if (isSecure) opened.on("session", (made: Buffer) => remember(url.host, made));
      opened.setKeepAlive(true, 60_000);
      opened.on("error", fail);
      opened.once("close", () => fail(new NetError("cut", "The server's answer is incomplete")));
      opened.once(isSecure ? "secureConnect" : "connect", onConnected);
      return opened;
    }
    function onConnected(): void {
      if (settle()) events.onConnected(socket);
    }
    /**
     * `onread` has no effect on TLS over an open socket, or on a socket that was read before. Both emit events. Without
     * `host`, the certificate of an IP address would be checked against the name of the proxy or "localhost".
     */
    function onTunnel(): void {
      awaited = undefined;
      if (isSecure) socket = prepare(openSecure({ ...security, host, socket }));
      socket.on("data", (chunk: Buffer) => void events.onRead(chunk.length, chunk));
      if (!isSecure) onConnected();
    }
    return {
      cancel() {
        settle();
        socket.destroy();
      },
    };
  };

  function remember(host: string, session: Buffer): void {
    sessions.delete(host);
    sessions.set(host, session);
    for (const oldest of sessions.keys()) {
      if (sessions.size <= keptSessions) break;
      sessions.delete(oldest);
    }
  }
}
