import type { ServerResponse } from "node:http";
import { flushAtTickEnd } from "../../kernel/flush-at-tick-end.ts";

const keepAliveMs = 15_000;
const noChunk = ["", "latin1"] as const;
const lastChunk = "0\r\n\r\n";

export interface EventStream {
  /** One `data:` line. A returned promise means that the reader is slow: wait for it before the next. */
  send(json: string): void | Promise<void>;
  end(): void;
}

/**
 * Server-Sent Events on a raw response: data lines without names, a comment every 15 seconds so that proxies keep the
 * connection, nothing buffered beyond the present turn of the event loop.
 *
 * The chunks are framed here and go to the socket as one string each. `response.write` would make four pieces of each
 * and gather them again, which costs as much as all the reading of an event.
 */
export function openEventStream(response: ServerResponse, headers: Record<string, string>): EventStream {
  response.writeHead(200, {
    ...headers,
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
  // Not for a client of HTTP/1.0, where the end of the connection is the end of the answer.
  const isChunked = response.chunkedEncoding;
  response.chunkedEncoding = false;
  let pending = "";
  let drained: Promise<void> | undefined;
  let begun = false;
  let ended = false;

  function flush(): void {
    const text = pending;
    pending = "";
    if (text === "" || response.destroyed || response.writableEnded) return;
    if (!write(text) && !drained) drained = nextDrain();
  }

  function framed(text: string): [chunk: string, encoding: "latin1" | "utf8"] {
    const bytes = Buffer.byteLength(text);
    const chunk = isChunked ? `${bytes.toString(16)}\r\n${text}\r\n` : text;
    // Where every character is one byte they need not be encoded.
    return [chunk, bytes === text.length ? "latin1" : "utf8"];
  }

  function write(text: string): boolean {
    const { socket } = response;
    const [chunk, encoding] = framed(text);
    // The first one takes the headers along. Without a socket an earlier answer is still under way on this connection,
    // and the response keeps what is written until its turn.
    if (begun && socket) return socket.write(chunk, encoding);
    begun = true;
    return response.write(chunk, encoding);
  }

  function nextDrain(): Promise<void> {
    const { socket } = response;
    return new Promise((resolve) => {
      const done = () => {
        response.off("drain", done);
        socket?.off("drain", done);
        response.off("close", done);
        drained = undefined;
        resolve();
      };
      response.on("drain", done);
      socket?.on("drain", done);
      response.on("close", done);
    });
  }

  const keepAlive = setInterval(() => {
    if (!drained) write(": keep-alive\n\n");
  }, keepAliveMs);
  response.once("close", () => clearInterval(keepAlive));

  return {
    send(json) {
      if (ended) return;
      // Everything of one turn goes out in one write: a token often arrives together with others.
      if (pending === "") flushAtTickEnd(flush);
      pending += `data: ${json}\n\n`;
      return drained;
    },
    end() {
      if (ended) return;
      ended = true;
      clearInterval(keepAlive);
      const [rest, encoding] = pending === "" ? noChunk : framed(pending);
      pending = "";
      response.end(isChunked ? `${rest}${lastChunk}` : rest, encoding);
    },
  };
}
