import type { IncomingMessage, ServerResponse } from "node:http";
import { suppressContinue } from "./expected-continue.ts";

/** A rest up to this is read, so that the connection can serve the next request. */
const shortBytes = 1_048_576;
/** So much of a longer one is read before its connection is closed: many clients send all before they read anything. */
const lingerBytes = 33_554_432;
const lingerMs = 2_000;

/**
 * For a request that is answered before its body was read: a short rest is read and forgotten. After a long one the
 * connection is closed, which the answer says, but only once the client had time to read the answer. (Closing at once
 * would make the client see a reset instead of the answer; reading on would let anyone send for ever.) Without the
 * response a long rest may still turn out to end soon; the connection is then kept.
 */
export function discardBody(request: IncomingMessage, response?: ServerResponse): void {
  suppressContinue(request);
  const { socket, headers } = request;
  const hasBody = "content-length" in headers || "transfer-encoding" in headers;
  if (!hasBody || request.readableEnded || request.destroyed) return;
  const isShort = Number(headers["content-length"] ?? Number.POSITIVE_INFINITY) <= shortBytes;
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  timer.unref();
  // Not the socket's: it lives on, and would gather a listener with every refused request.
  request.once("close", () => clearTimeout(timer));
  if (!isShort && response) closeAfterAnswer(request, response);
  else request.once("end", () => clearTimeout(timer));
  let left = isShort ? shortBytes : lingerBytes;
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.pause();
  });
  request.resume();
}

function closeAfterAnswer({ socket }: IncomingMessage, response: ServerResponse): void {
  if (!response.headersSent) response.setHeader("connection", "close");
  // What node:http calls after the last answer of a connection. It would close both directions at once.
  socket.destroySoon = () => socket.end();
}
