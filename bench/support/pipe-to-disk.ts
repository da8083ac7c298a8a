/**
 * The minimum cost of an upload: the raw body piped into a file, answered when it is written. Without keys, forms, names or
 * records. `DURABLE=1` also waits until the bytes are on disk.
 */
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

const directory = await mkdtemp(join(process.env.UPLOADS ?? tmpdir(), "pipe-"));
let count = 0;

const server = createServer(async (request, response) => {
  const path = join(directory, String(++count));
  await pipeline(request, createWriteStream(path, { highWaterMark: 262_144, flush: process.env.DURABLE === "1" }));
  response.writeHead(200, { "content-length": 2 });
  response.end("ok");
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(`pipe listens on 127.0.0.1:${typeof address === "object" && address ? address.port : 0}`);
});
process.on("SIGTERM", async () => {
  await rm(directory, { recursive: true, force: true });
  process.exit(0);
});
