import { connect, type Socket } from "node:net";

export interface LoadResult {
  requests: number;
  failures: number;
  perSecond: number;
  p50: number;
  p99: number;
}

/**
 * A closed loop of keep-alive connections that send the same bytes for some seconds, or each its own of several. Uses bare
 * sockets and reads only the length of an answer, so that the client is never the bottleneck.
 */
export async function load(options: {
  port: number;
  request: Buffer | readonly Buffer[];
  connections: number;
  seconds: number;
  expectStatus?: number;
}): Promise<LoadResult> {
  const { port, request, connections, seconds, expectStatus = 200 } = options;
  const requests = [request].flat();
  const latencies: number[] = [];
  let failures = 0;
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;

  await Promise.all(
    Array.from(
      { length: connections },
      (_, n) =>
        new Promise<void>((resolve) => {
          const own = requests[n % requests.length] ?? Buffer.alloc(0);
          const socket: Socket = connect({ port, host: "127.0.0.1", noDelay: true });
          let sentAt = 0;
          let buffered: Buffer = Buffer.alloc(0);
          const send = () => {
            if (performance.now() >= until) return socket.end(resolve as () => void);
            sentAt = performance.now();
            socket.write(own);
          };
          socket.on("connect", send);
          socket.on("error", () => {
            failures++;
            resolve();
          });
          socket.on("close", () => resolve());
          socket.on("data", (chunk: Buffer) => {
            buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
            const length = answerLength(buffered);
            if (length === undefined || buffered.length < length) return;
            latencies.push(performance.now() - sentAt);
            if (Number(buffered.toString("latin1", 9, 12)) !== expectStatus) failures++;
            buffered = Buffer.alloc(0);
            send();
          });
        }),
    ),
  );
  const elapsed = (performance.now() - startedAt) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  return { requests: latencies.length, failures, perSecond: latencies.length / elapsed, p50: at(0.5), p99: at(0.99) };
}

/** The length of the first answer, once its header is complete. */
function answerLength(bytes: Buffer): number | undefined {
  const header = bytes.indexOf("\r\n\r\n");
  if (header === -1) return undefined;
  const length = /content-length: (\d+)/i.exec(bytes.toString("latin1", 0, header));
  if (length) return header + 4 + Number(length[1]);
  const end = bytes.indexOf("0\r\n\r\n", header + 4);
  return end === -1 ? undefined : end + 5;
}

/** A multipart request of text fields, as bytes. */
export function formRequest(path: string, fields: Record<string, string>, headers: Record<string, string>): Buffer {
  const boundary = "----gantrybench0123456789";
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const body = Buffer.from(`${parts.join("")}--${boundary}--\r\n`);
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    `Content-Type: multipart/form-data; boundary=${boundary}`,
    `Content-Length: ${body.length}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ].join("\r\n");
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body]);
}

/** A JSON request, as bytes. */
export function jsonRequest(path: string, value: unknown, headers: Record<string, string>): Buffer {
  const body = Buffer.from(JSON.stringify(value));
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ].join("\r\n");
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body]);
}
