import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { microsNow, readTokens } from "./token-text.ts";

export interface StreamLoad {
  port: number;
  /** Several are used in rotation. */
  request: Buffer | readonly Buffer[];
  streams: number;
  /** All clients disconnect once each has seen this number of tokens. */
  leaveAfter?: number;
}

export interface StreamResult {
  tokens: number;
  /** From the first token to the end. */
  seconds: number;
  /** Age of the tokens at their arrival, in ms. */
  p50: number;
  p99: number;
}

const lastChunk = Buffer.from("0\r\n\r\n");
/** A thousand simultaneous connections would measure the listener's backlog. */
const connectingPerMs = 2;

/**
 * Opens streams on separate connections and reads them to their end. Uses bare sockets and only searches for tokens, so
 * that the client is never the bottleneck.
 */
export async function loadStreams({ port, request, streams, leaveAfter }: StreamLoad): Promise<StreamResult> {
  const requests = [request].flat();
  const ages: number[] = [];
  let firstAt = 0;
  const began = performance.now();
  const all: Promise<void>[] = [];
  while (all.length < streams) {
    const due = Math.min(streams, Math.ceil((performance.now() - began) * connectingPerMs) + 1);
    while (all.length < due) all.push(readOne(requests[all.length % requests.length] ?? Buffer.alloc(0)));
    await sleep(1);
  }
  await Promise.all(all);
  const seconds = (performance.now() - firstAt) / 1000;
  const sorted = Float64Array.from(ages).sort();
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? Number.NaN) / 1000;
  return { tokens: ages.length, seconds, p50: at(0.5), p99: at(0.99) };

  function readOne(own: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      let rest: Buffer = Buffer.alloc(0);
      let head = "";
      let seen = 0;
      socket.once("connect", () => socket.write(own));
      socket.on("error", reject);
      socket.on("close", () =>
        reject(new Error(`a stream was interrupted after ${seen} tokens: ${head.slice(0, 500)}`)),
      );
      socket.on("data", (chunk: Buffer) => {
        if (seen === 0 && head.length < 2000) head += chunk.toString("latin1");
        const now = microsNow();
        const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
        rest = readTokens(bytes, (sentAt) => {
          if (firstAt === 0) firstAt = performance.now();
          seen += 1;
          ages.push(now - sentAt);
        });
        const ended = chunk.length >= 5 && chunk.subarray(-5).equals(lastChunk);
        if (!ended && (leaveAfter === undefined || seen < leaveAfter)) return;
        socket.removeAllListeners("close");
        socket.destroy();
        if (head.startsWith("HTTP/1.1 200") && seen > 0) resolve();
        else reject(new Error(`no stream: ${head.slice(0, 500)}`));
      });
    });
  }
}
