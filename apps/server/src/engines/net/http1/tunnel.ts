import { connect, type Socket } from "node:net";
import { NetError } from "../net.ts";

export interface EgressProxy {
  host: string;
  port: number;
  /** The value of Proxy-Authorization. */
  authorization: string | undefined;
}

const maxReplyBytes = 16 * 1024;
const statusLine = /^HTTP\/1\.[01] ([1-9]\d\d)(?: [^\r\n]*)?\r\n/;

export function readProxy(address: string): EgressProxy {
  const { hostname, port, username, password } = new URL(address);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port || 80),
    authorization: username === "" ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`,
  };
}

/**
 * Asks the proxy for a connection to `target` (host and port). Calls without TLS use CONNECT too, so that the proxy does not
 * interpret answers.
 */
export function openTunnel(
  { host, port, authorization }: EgressProxy,
  target: string,
  events: { onOpen(): void; onFailed(error: Error): void },
): Socket {
  const socket = connect({ host, port, noDelay: true });
  let reply = "";

  function fail(what: string, cause?: unknown): void {
    events.onFailed(new NetError("unreachable", `The egress proxy ${what}`, { cause }));
  }

  function onReply(bytes: Buffer): void {
    reply += bytes.toString("latin1");
    const end = reply.indexOf("\r\n\r\n");
    if (end === -1 && reply.length <= maxReplyBytes) return;
    const status = statusLine.exec(reply)?.[1];
    // No request was sent yet, so further bytes cannot be an answer of the server.
    if (status === undefined || end === -1) fail("did not answer with HTTP");
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

  socket.setKeepAlive(true, 60_000);
  socket.once("connect", () => {
    const credentials = authorization === undefined ? "" : `Proxy-Authorization: ${authorization}\r\n`;
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${credentials}\r\n`, "latin1");
  });
  // This listener stays: an error after the tunnel is open must not be uncaught.
  socket.on("error", (error) => fail("could not be reached", error));
  socket.on("data", onReply).on("close", onClose);
  return socket;
}
