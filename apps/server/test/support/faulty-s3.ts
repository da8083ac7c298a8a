import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";

export interface FaultyS3 {
  endpoint: string;
  /** Cuts the next download whose path contains this, after so many bytes. */
  cutNext(part: string, afterBytes: number): void;
  /** Cuts every download whose path contains this, after so many bytes; undefined stops it. */
  cutAll(part: string | undefined, afterBytes?: number): void;
  /** Answers chosen requests with 503, like an overloaded server; undefined stops it. */
  refuse(chosen: ((method: string, path: string) => boolean) | undefined): void;
  /** Never answers chosen requests; undefined stops it. */
  silence(chosen: ((method: string, path: string) => boolean) | undefined): void;
  /** Carries out chosen requests and loses their answers; undefined stops it. */
  loseAnswers(chosen: ((method: string, path: string) => boolean) | undefined): void;
  /** Number of downloads cut so far. */
  readonly cuts: number;
  close(): Promise<void>;
}

type Chosen = ((method: string, path: string) => boolean) | undefined;

/** A proxy to a real S3 server that fails on demand. It passes on the Host header, which is signed. */
export async function startFaultyS3(target: string): Promise<FaultyS3> {
  const { hostname, port } = new URL(target);
  let cut: { part: string; afterBytes: number; isOnce: boolean } | undefined;
  let cuts = 0;
  let refused: Chosen;
  let silent: Chosen;
  let unanswered: Chosen;
  const server = createServer((incoming, outgoing) => {
    const { method = "", url: path = "" } = incoming;
    const headers = { ...incoming.headers, connection: "close" };
    if (silent?.(method, path)) return;
    if (refused?.(method, path)) {
      incoming.resume();
      outgoing.writeHead(503).end();
      return;
    }
    const isCut = cut !== undefined && method === "GET" && path.includes(cut.part);
    let left = isCut && cut ? cut.afterBytes : Number.POSITIVE_INFINITY;
    if (isCut) {
      if (cut?.isOnce) cut = undefined;
      cuts++;
    }
    const onward = httpRequest({ hostname, port, method, path, headers, agent: false }, (answer) => {
      if (unanswered?.(method, path)) return void outgoing.destroy();
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      // Swift ends the answer to a HEAD with an invalid chunk.
      if (method === "HEAD") return void outgoing.end();
      answer.on("data", (chunk: Buffer) => {
        outgoing.write(chunk.subarray(0, left));
        left -= chunk.length;
        if (left <= 0) outgoing.socket?.destroySoon();
      });
      answer.on("end", () => left > 0 && outgoing.end());
    });
    onward.on("error", () => outgoing.writableEnded || outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cutNext(part, afterBytes) {
      cut = { part, afterBytes, isOnce: true };
    },
    cutAll(part, afterBytes = 1) {
      cut = part === undefined ? undefined : { part, afterBytes, isOnce: false };
    },
    refuse(chosen) {
      refused = chosen;
    },
    silence(chosen) {
      silent = chosen;
    },
    loseAnswers(chosen) {
      unanswered = chosen;
    },
    get cuts() {
      return cuts;
    },
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
