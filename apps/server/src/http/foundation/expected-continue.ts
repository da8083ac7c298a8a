import type { IncomingMessage, ServerResponse } from "node:http";

/** Requests whose client may still wait for 100 Continue. */
const waiting = new WeakSet<IncomingMessage>();

/**
 * For a client that sends `Expect: 100-continue`: it gets 100 Continue when something reads the body for the first time,
 * and not once it is refused or answered, so that a refused client uploads nothing. node:http closes the connection after
 * an answer without 100 Continue, because a late body could be taken for the next request.
 *
 *   waiting ──first read──► continued
 *      └──suppressed or answered──► silent
 */
export function continueWhenWanted(request: IncomingMessage, response: ServerResponse): void {
  waiting.add(request);
  // The first `_read` is the first time that anything reads the stream.
  const read = request._read;
  request._read = function (size) {
    request._read = read;
    if (waiting.delete(request) && !response.headersSent) response.writeContinue();
    read.call(this, size);
  };
  // If the body came with the head, send 100 Continue too. Otherwise node:http would close the connection after the
  // answer, and with it pipelined requests. By now the parser has processed everything that arrived.
  setImmediate(() => {
    if (request.complete && waiting.delete(request) && !response.headersSent) response.writeContinue();
  });
}

export function awaitsContinue(request: IncomingMessage): boolean {
  return waiting.has(request);
}

/** A body that will be discarded is not worth asking for. */
export function suppressContinue(request: IncomingMessage): void {
  waiting.delete(request);
}
