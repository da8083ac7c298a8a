import type { IncomingMessage } from "node:http";

const maxBytes = 1_048_576;
const maxMs = 2_000;

/**
 * For a request that is answered before its body was read: a short rest is read and forgotten, so that the connection
 * can serve the next request. Of a long one no more is read; its connection is closed once the client had time to read
 * the answer. (Closing at once would make the client see a reset instead of the answer; reading on would let anyone
 * send for ever.)
 */
export function leaveBody(request: IncomingMessage): void {
  if (request.readableEnded || request.destroyed) return;
  let left = maxBytes;
  const timer = setTimeout(() => request.socket.destroy(), maxMs);
  timer.unref();
  const done = () => clearTimeout(timer);
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.pause();
  });
  request.on("end", done);
  request.on("close", done);
  request.on("error", done);
  request.resume();
}
