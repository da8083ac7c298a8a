import { openAsBlob } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type GantryClient } from "../src/index.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const mebibyte = 1_048_576;
const bytes = 30 * mebibyte;

let folder: string;
let onDisk: string;
let client: GantryClient;
let before: number;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const server = createServer((request, response) => answer(request, response));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sdk-large-"));
  onDisk = join(folder, "large");
  await writeFile(onDisk, streamed());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  before = await held();
  client = createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

async function* streamed(): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < bytes; sent += 65_536) yield Buffer.alloc(65_536, "gantry");
}

/** What is freed is counted as that a while after it was collected. */
async function held(): Promise<number> {
  const seen: number[] = [];
  for (let n = 0; n < 4; n++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 10));
    seen.push(process.memoryUsage().arrayBuffers);
  }
  return Math.min(...seen);
}

const link = { url: "http://127.0.0.1:1/x", method: "PUT", file_input: { s3_path: "s3://gantry/x" } };

test.each<[string, (send: GantryClient) => Promise<unknown>]>([
  ["a stream in a form", ({ drives }) => drives.files.upload("drv", "/f", streamed())],
  ["a stream as it is", ({ drives }) => drives.files.replace("drv", "/f", streamed())],
  ["a file on disk in a form", async ({ drives }) => drives.files.upload("drv", "/f", await openAsBlob(onDisk))],
  ["a file on disk as it is", async ({ drives }) => drives.files.replace("drv", "/f", await openAsBlob(onDisk))],
  ["a file for a prediction", async ({ files }) => files.upload("gantry/image", await openAsBlob(onDisk))],
])("%s is not kept once it was sent", async (_, send) => {
  let [arrived, kept] = [0, 0];
  answer = (request, response) => {
    request.on("data", (piece: Buffer) => {
      arrived += piece.length;
    });
    request.on("end", async () => {
      kept = (await held()) - before;
      response.setHeader("content-type", "application/json").end(JSON.stringify(link));
    });
  };
  await send(client);
  expect(arrived).toBeGreaterThanOrEqual(bytes);
  expect(kept).toBeLessThan(10 * mebibyte);
});

test("a stream is not asked for more than the service takes", async () => {
  let taken = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) {
      taken += 65_536;
      yield new Uint8Array(65_536);
    }
  }
  // One of its own: what the system itself holds of a connection grows with what has gone over it.
  const deaf = createServer(() => {});
  await new Promise<void>((resolve) => deaf.listen(0, "127.0.0.1", resolve));
  const client = createClient({ url: `http://127.0.0.1:${(deaf.address() as AddressInfo).port}` });
  const leaving = new AbortController();
  const sending = client.drives.files.replace("drv", "/f", endless(), { signal: leaving.signal });
  let [last, earlier] = [-1, 0];
  while (last !== earlier) {
    earlier = last;
    await new Promise((resolve) => setTimeout(resolve, 200));
    last = taken;
  }
  leaving.abort(new Error("enough"));
  await expect(sending).rejects.toThrow("enough");
  deaf.closeAllConnections();
  deaf.close();
  // What two sockets and the stages between them hold.
  expect(taken).toBeLessThan(16 * mebibyte);
});

test("a large body is not sent to where a redirect leads", async () => {
  let requests = 0;
  answer = (request, response) => {
    requests++;
    request.resume();
    response.writeHead(307, { location: "/elsewhere" }).end();
  };
  await expect(client.drives.files.replace("drv", "/f", streamed())).rejects.toMatchObject({
    type: "connection_error",
    message: expect.stringContaining("redirect"),
  });
  expect(requests).toBe(1);
});
