import type { IncomingMessage, ServerResponse } from "node:http";

/** Requests whose client may still wait for a word before it sends its body. */
const waiting = new WeakSet<IncomingMessage>();

/**
 * For a client that asks before it sends its body (`Expect: 100-continue`): it is told to go on when somebody reads the
 * body for the first time, and never once it is refused or answered, so that who is refused uploads nothing. node:http
 * ends the connection after an answer that came without this word: nobody could tell a body from the next request.
 *
 *   waiting ──first read──► told to go on
 *      └──forgone, or answered──► silent
 */
export function continueWhenWanted(request: IncomingMessage, response: ServerResponse): void {
  waiting.add(request);
  // The first call of what fetches more for a stream is the first that anybody wants of it.
  const read = request._read;
  request._read = function (size) {
    request._read = read;
    if (waiting.delete(request) && !response.headersSent) response.writeContinue();
    read.call(this, size);
  };
  // A body that came along with its head needs no word. Without one node:http would end the connection after the answer,
  // and with it the requests that follow on it. The parser has gone through all that arrived by then.
  setImmediate(() => {
    if (request.complete && waiting.delete(request) && !response.headersSent) response.writeContinue();
  });
}

/** Whether the client has not been told yet to send its body. */
export function awaitsContinue(request: IncomingMessage): boolean {
  return waiting.has(request);
}

/** What comes of the body from now on is read to be forgotten: that is no reason to ask for it. */
export function suppressContinue(request: IncomingMessage): void {
  waiting.delete(request);
}
