import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface Seen {
  kind: RequestKind;
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  /** Names and values in turn, repeated ones too. */
  rawHeaders: string[];
  body: Buffer;
  at: number;
  /** Time at which the client closed the connection before the answer was complete. */
  leftAt?: number;
}

export interface Reply {
  status: number;
  headers: Record<string, string>;
  /** Sent chunk by chunk. */
  body: string | Buffer | AsyncIterable<string | Buffer>;
}

/** The call of a model, the download of a file, or another request of the protocol. */
export type RequestKind = "call" | "file" | "poll";

/** A failure instead of, or in addition to, the correct answer to one request. */
type Oddity =
  | { kind: "reply"; reply: Reply }
  /** The connection breaks before the first byte of the answer. */
  | { kind: "reset" }
  /** The request is served, but the connection breaks before the first byte of the answer. */
  | { kind: "lose" }
  /** The request is served, but never answered. */
  | { kind: "mute" }
  /** The connection breaks within the answer. */
  | { kind: "cut" }
  | { kind: "hang" }
  /** The answer never ends. */
  | { kind: "endless"; piece: string }
  | { kind: "type"; contentType: string };

export interface ScriptedServer {
  url: string;
  seen: Seen[];
  /** Used in order, one for each request of that kind. Later requests succeed. */
  odd: Record<RequestKind, Oddity[]>;
  close(): Promise<void>;
}

export function jsonReply(value: unknown, status = 200): Reply {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}

function downloadOrCall(_method: string, path: string): RequestKind {
  if (path === "/health-check") return "poll";
  return path.startsWith("/files/") ? "file" : "call";
}

/** An HTTP server that answers with `answer`, or with a scripted failure. */
export async function startScripted(
  answer: (seen: Seen) => Reply | Promise<Reply>,
  kindOf: (method: string, path: string) => RequestKind = downloadOrCall,
): Promise<ScriptedServer> {
  const sockets = new Set<Socket>();
  const seen: Seen[] = [];
  const odd: ScriptedServer["odd"] = { call: [], file: [], poll: [] };

  const server = http.createServer(async (req, res) => {
    const pieces: Buffer[] = [];
    try {
      for await (const piece of req) pieces.push(piece as Buffer);
    } catch {
      return;
    }
    const one: Seen = {
      kind: kindOf(req.method ?? "", req.url ?? ""),
      method: req.method ?? "",
      path: req.url ?? "",
      headers: req.headers,
      rawHeaders: req.rawHeaders,
      body: Buffer.concat(pieces),
      at: performance.now(),
    };
    seen.push(one);
    res.on("close", () => {
      if (!res.writableFinished) one.leftAt = performance.now();
    });
    const oddity = odd[one.kind].shift();
    if (oddity?.kind === "reset") return void req.socket.resetAndDestroy();
    if (oddity?.kind === "hang") return;
    const reply = oddity?.kind === "reply" ? oddity.reply : await answer(one);
    if (oddity?.kind === "mute") return;
    if (oddity?.kind === "lose") return void req.socket.resetAndDestroy();
    const headers = oddity?.kind === "type" ? { ...reply.headers, "content-type": oddity.contentType } : reply.headers;
    if (oddity?.kind === "endless") {
      res.writeHead(200, headers);
      const piece = Buffer.from(oddity.piece);
      const more = () => {
        while (!res.destroyed && res.write(piece));
        if (!res.destroyed) res.once("drain", more);
      };
      return more();
    }
    if (typeof reply.body !== "string" && !Buffer.isBuffer(reply.body)) {
      res.writeHead(reply.status, headers);
      for await (const piece of reply.body) {
        if (res.destroyed) return;
        if (!res.write(piece)) await Promise.race([once(res, "drain"), once(res, "close")]);
        if (oddity?.kind === "cut") return void req.socket.destroy();
      }
      return void res.end();
    }
    const body = Buffer.from(reply.body);
    res.writeHead(reply.status, { ...headers, "content-length": String(body.length) });
    if (oddity?.kind === "cut") {
      res.write(body.subarray(0, body.length >> 1), () => setTimeout(() => req.socket.destroy(), 20));
      return;
    }
    res.end(body);
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    odd,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
