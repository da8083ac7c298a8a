/**
 * The measure of the machine: a server whose call hashes a text and writes a page to disk, as a prediction does. Its time
 * changes with the load of the machine and with nothing else.
 */
import { createHash } from "node:crypto";
import { fsyncSync, openSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const text = Buffer.alloc(1_000_000, "control");
const page = Buffer.alloc(8192, 1);
const file = openSync(join(process.argv[2] ?? tmpdir(), "control"), "w");

const server = createServer((_request, response) => {
  const hash = createHash("sha256").update(text).digest("hex");
  writeSync(file, page, 0, page.length, 0);
  fsyncSync(file);
  response.end(hash);
});
server.keepAliveTimeout = 120_000;
server.listen(0, "127.0.0.1", () => console.log(`listens on 127.0.0.1:${(server.address() as AddressInfo).port}`));
