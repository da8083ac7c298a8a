import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface SlowCog {
  url: string;
  /** Open predictions now, and the most at one time. */
  readonly open: number;
  readonly most: number;
  readonly started: number;
  /** Ends the oldest open prediction, with "done" by default. */
  finishOne(output?: unknown): void;
  finishAll(): void;
  close(): Promise<void>;
}

/** A Cog server whose predictions the test ends. A prediction closes when its caller disconnects. */
export async function startSlowCog(): Promise<SlowCog> {
  const open: ServerResponse[] = [];
  let most = 0;
  let started = 0;
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    if (request.url?.endsWith("/cancel")) return void response.writeHead(200).end("{}");
    request.on("end", () => {
      started++;
      open.push(response);
      most = Math.max(most, open.length);
      response.on("close", () => {
        const at = open.indexOf(response);
        if (at !== -1) open.splice(at, 1);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const finishOne = (output: unknown = "done") => {
    const response = open.shift();
    response?.writeHead(200, { "content-type": "application/json" });
    response?.end(JSON.stringify({ status: "succeeded", output }));
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get open() {
      return open.length;
    },
    get most() {
      return most;
    },
    get started() {
      return started;
    },
    finishOne,
    finishAll: () => {
      while (open.length > 0) finishOne();
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
