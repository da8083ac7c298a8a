/**
 * A mock that streams answers of OpenAI's Chat Completions, or with PROTOCOL=anthropic of Anthropic's Messages, on bare
 * sockets. All streams share one timer, and the bytes of a token are built once per tick. Every token is one write, as
 * from a real model. Its text is the time at which it was sent.
 *
 *   POST anything           a stream of TOKENS tokens
 *   GET  /pace?ms=40        a token every 40 ms for each stream, spread evenly over that time; 0: as fast as possible
 *   GET  /open              number of open streams
 */
import { createServer, type Socket } from "node:net";
import { tokenDialects } from "./token-dialects.ts";
import { microsNow, tokenText } from "./token-text.ts";

const tokens = Number(process.env.TOKENS ?? 200);
const tickMs = 1;

interface Stream {
  socket: Socket;
  sent: number;
}

const open = new Set<Stream>();
let paceMs = 40;
/** Streams by the tick of their next token. */
let ring: Stream[][] = [];
let place = 0;
let next = 0;
let startedAt = 0;

const head = [
  "HTTP/1.1 200 OK",
  "content-type: text/event-stream; charset=utf-8",
  "cache-control: no-cache",
  "transfer-encoding: chunked",
  "connection: keep-alive",
  "\r\n",
].join("\r\n");

const { first, token, last } = tokenDialects[process.env.PROTOCOL === "anthropic" ? "anthropic" : "openai"](tokens);

const tokenNow = (): Buffer => Buffer.from(token(tokenText(microsNow())));

function begin(socket: Socket): void {
  const stream = { socket, sent: 0 };
  open.add(stream);
  socket.once("close", () => open.delete(stream));
  socket.write(head + first);
  if (paceMs === 0) return;
  // Spreads successive streams over the ticks, so that their tokens do not coincide.
  next = (next + 7) % ring.length;
  ring[next]?.push(stream);
}

/** False at the end of the stream. */
function give(stream: Stream, token: Buffer): boolean {
  if (stream.socket.destroyed) return false;
  stream.socket.write(token);
  stream.sent += 1;
  if (stream.sent < tokens) return true;
  open.delete(stream);
  stream.socket.write(last);
  return false;
}

function tick(): void {
  const due = Math.floor((performance.now() - startedAt) / tickMs);
  for (; place < due; place++) {
    const at = place % ring.length;
    const streams = ring[at];
    if (!streams || streams.length === 0) continue;
    const token = tokenNow();
    ring[at] = streams.filter((stream) => give(stream, token));
  }
  if (paceMs > 0) setTimeout(tick, tickMs);
}

function pour(): void {
  const token = tokenNow();
  for (const stream of open) if (!stream.socket.writableNeedDrain) give(stream, token);
  if (paceMs > 0) return;
  if (open.size > 0) setImmediate(pour);
  else setTimeout(pour, tickMs);
}

function setPace(ms: number): void {
  if (open.size > 0) throw new Error("streams are still open");
  paceMs = ms;
  ring = Array.from({ length: Math.max(1, Math.round(ms / tickMs)) }, () => []);
  place = 0;
  next = 0;
  startedAt = performance.now();
  // After timers of the old pace have seen the new one.
  setTimeout(ms === 0 ? pour : tick, 10);
}

function answer(socket: Socket, requestLine: string): void {
  const [method, path = ""] = requestLine.split(" ");
  if (method === "POST") {
    begin(socket);
    return;
  }
  if (path.startsWith("/pace")) setPace(Number(path.split("=")[1]));
  const body = String(open.size);
  socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
}

const server = createServer({ noDelay: true }, (socket) => {
  let received = "";
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
    for (;;) {
      const end = received.indexOf("\r\n\r\n");
      if (end === -1) return;
      const length = Number(/content-length: *(\d+)/i.exec(received.slice(0, end))?.[1] ?? 0);
      if (received.length < end + 4 + length) return;
      const requestLine = received.slice(0, received.indexOf("\r\n"));
      received = received.slice(end + 4 + length);
      answer(socket, requestLine);
    }
  });
});
setPace(paceMs);
server.listen({ port: 0, host: "127.0.0.1", backlog: 2048 }, () => {
  const address = server.address();
  console.log(`upstream listens on 127.0.0.1:${typeof address === "object" && address ? address.port : 0}`);
});
