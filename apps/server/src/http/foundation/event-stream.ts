import type { ServerResponse } from "node:http";
import { flushAtTickEnd } from "../../kernel/flush-at-tick-end.ts";

const keepAliveMs = 15_000;
const noChunk = ["", "latin1"] as const;
const lastChunk = "0\r\n\r\n";

export interface EventStream {
  /** One `data:` line. If it returns a promise, the reader is slow: await it before the next event. */
  send(json: string): void | Promise<void>;
  /** Whole events, each with its blank line at the end. */
  write(events: string): void | Promise<void>;
  end(): void;
}

/**
 * Server-Sent Events on a raw response: a comment every 15 seconds to keep proxies from closing the
 * connection, and no buffering beyond the current tick. Chunks are framed here and written as one string each:
 * `response.write` would split and join each of them, which costs as much as reading an event.
 */
export function openEventStream(response: ServerResponse, headers: Record<string, string>): EventStream {
  response.writeHead(200, {
    ...headers,
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
  // HTTP/1.0 has no chunks: the end of the connection is the end of the answer.
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
    // ASCII needs no encoding.
    return [chunk, bytes === text.length ? "latin1" : "utf8"];
  }

  function write(text: string): boolean {
    const { socket } = response;
    const [chunk, encoding] = framed(text);
    // The first chunk goes with the headers. Without a socket an earlier answer is still in progress on this
    // connection, and the response buffers.
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

  function add(events: string): void | Promise<void> {
    if (ended || events === "") return;
    // Everything of one tick goes out in one write: tokens often arrive together.
    if (pending === "") flushAtTickEnd(flush);
    pending += events;
    return drained;
  }

  return {
    send: (json) => add(`data: ${json}\n\n`),
    write: add,
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
