import type { IncomingMessage, ServerResponse } from "node:http";
import { suppressContinue } from "./expected-continue.ts";

/** A rest up to this size is read, so that the connection can serve the next request. */
const shortBytes = 1_048_576;
/** Read this much of a longer rest before closing: many clients send everything before they read. */
const lingerBytes = 33_554_432;
const lingerMs = 2_000;

/**
 * For a request that is answered before its body was read. A short rest is read and dropped. After a long one the
 * connection is closed, as the answer says, but only after the client had time to read the answer: closing at once
 * would show it a reset, reading on would let it send for ever. Without the response the connection is kept if a long
 * rest ends soon.
 */
export function discardBody(request: IncomingMessage, response?: ServerResponse): void {
  suppressContinue(request);
  const { socket, headers } = request;
  const hasBody = "content-length" in headers || "transfer-encoding" in headers;
  if (!hasBody || request.readableEnded || request.destroyed) return;
  const isShort = Number(headers["content-length"] ?? Number.POSITIVE_INFINITY) <= shortBytes;
  // `app.inject` has a socket without `destroy`.
  const timer = setTimeout(() => socket.destroy?.(), lingerMs);
  timer.unref();
  // Not on the socket, which would collect a listener with every refused request.
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
  // node:http calls `destroySoon` after the last answer, which would close both directions at once.
  socket.destroySoon = () => socket.end();
}
