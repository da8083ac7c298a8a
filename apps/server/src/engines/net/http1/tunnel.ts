import { connect, isIP, type Socket } from "node:net";
import { connect as connectSecure, type SecureContext } from "node:tls";
import { NetError } from "../net.ts";

export interface EgressProxy {
  host: string;
  port: number;
  isSecure: boolean;
  /** The value of Proxy-Authorization. */
  authorization: string | undefined;
  /** For messages: its address without credentials. */
  name: string;
}

const maxReplyBytes = 16 * 1024;
const statusLine = /^HTTP\/1\.[01] ([1-9]\d\d)(?: [^\r\n]*)?\r\n/;

export function readProxy(address: string): EgressProxy {
  const { protocol, hostname, port, username, password } = new URL(address);
  const isSecure = protocol === "https:";
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const number = Number(port || (isSecure ? 443 : 80));
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: number,
    isSecure,
    authorization: credentials === ":" ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`,
    name: `${protocol}//${hostname}:${number}`,
  };
}

/**
 * Asks the proxy for a connection to `target` (host and port). Calls without TLS use CONNECT too, so that the proxy does not
 * interpret answers.
 */
export function openTunnel(
  proxy: EgressProxy,
  target: string,
  events: { onOpen(): void; onFailed(error: Error): void },
  secureContext?: SecureContext,
): Socket {
  const { host, port, isSecure, authorization, name } = proxy;
  const socket = isSecure
    ? connectSecure({
        host,
        port,
        ...(isIP(host) === 0 && { servername: host }),
        ...(secureContext && { secureContext }),
        ALPNProtocols: ["http/1.1"],
      })
    : connect({ host, port, noDelay: true });
  let reply = "";

  function fail(what: string, cause?: unknown): void {
    const discreet = `The egress proxy ${what}`;
    events.onFailed(new NetError("unreachable", `The egress proxy ${name} ${what}`, { cause, discreet }));
  }

  function onReply(bytes: Buffer): void {
    reply += bytes.toString("latin1");
    const end = reply.indexOf("\r\n\r\n");
    if (end === -1 && reply.length <= maxReplyBytes) return;
    const status = statusLine.exec(reply)?.[1];
    // No request was sent yet, so further bytes cannot be an answer of the server.
    if (status === undefined || end === -1) fail("did not answer with HTTP");
    else if (status === "407") fail(refusedCredentials(authorization));
    else if (!status.startsWith("2")) fail(`answered with status ${status}`);
    else if (reply.length > end + 4) fail("did not answer with HTTP");
    else {
      socket.off("data", onReply).off("close", onClose);
      events.onOpen();
    }
  }

  function onClose(): void {
    fail("closed the connection");
  }

  socket.setNoDelay(true).setKeepAlive(true, 60_000);
  socket.once(isSecure ? "secureConnect" : "connect", () => {
    const credentials = authorization === undefined ? "" : `Proxy-Authorization: ${authorization}\r\n`;
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${credentials}\r\n`, "latin1");
  });
  // This listener stays: an error after the tunnel is open must not be uncaught.
  socket.on("error", (error) => fail("could not be reached", error));
  socket.on("data", onReply).on("close", onClose);
  return socket;
}

function refusedCredentials(authorization: string | undefined): string {
  return authorization === undefined
    ? "answered with status 407: it needs a user and a password in its address"
    : "answered with status 407: it refuses the user or the password in its address";
}
