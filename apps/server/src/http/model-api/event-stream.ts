import type { ServerResponse } from "node:http";

const keepAliveMs = 15_000;

export interface EventStream {
  /** One `data:` line. A returned promise means that the reader is slow: wait for it before the next. */
  send(json: string): void | Promise<void>;
  end(): void;
}

/**
 * Server-Sent Events on a raw response: data lines without names, a comment every 15 seconds so that proxies keep the
 * connection, nothing buffered beyond the present turn of the event loop.
 */
export function openEventStream(response: ServerResponse, headers: Record<string, string>): EventStream {
  response.writeHead(200, {
    ...headers,
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
  let pending = "";
  let drained: Promise<void> | undefined;
  let ended = false;

  function flush(): void {
    const text = pending;
    pending = "";
    if (text === "" || response.destroyed || response.writableEnded) return;
    if (!response.write(text) && !drained) drained = nextDrain();
  }

  function nextDrain(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        response.off("drain", done);
        response.off("close", done);
        drained = undefined;
        resolve();
      };
      response.on("drain", done);
      response.on("close", done);
    });
  }

  const keepAlive = setInterval(() => {
    if (!drained) response.write(": keep-alive\n\n");
  }, keepAliveMs);
  response.once("close", () => clearInterval(keepAlive));

  return {
    send(json) {
      if (ended) return;
      // Everything of one turn goes out in one write: a token often arrives together with others.
      if (pending === "") process.nextTick(flush);
      pending += `data: ${json}\n\n`;
      return drained;
    },
    end() {
      if (ended) return;
      ended = true;
      clearInterval(keepAlive);
      flush();
      response.end();
    },
  };
}
