import { openAsBlob } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type GantryClient, GantryError } from "../src/index.ts";

let folder: string;
let client: GantryClient;
let calls = 0;
const server = createServer((request, response) => {
  // The rest of the body does not arrive.
  request.on("error", () => {});
  request.resume().on("end", () => response.end("{}"));
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sdk-changed-"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  client = createClient({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fetch: (...args) => {
      calls++;
      return fetch(...args);
    },
  });
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

test.each<[string, (file: Blob) => Promise<unknown>]>([
  ["an upload", (file) => client.files.upload("a/b", file)],
  ["a file of a drive", (file) => client.drives.files.upload("drv_1", "/f", file)],
  ["a file sent as it is", (file) => client.drives.files.replace("drv_1", "/f", file)],
  ["the input of a queued prediction", (file) => client.submit("a/b", { file })],
])("%s that changed since it was opened is named as the reason, and not sent again", async (_, send) => {
  calls = 0;
  const path = join(folder, "file");
  await writeFile(path, "x".repeat(100_000));
  const file = await openAsBlob(path);
  await writeFile(path, "changed");
  const failure = await send(file).catch((thrown) => thrown);
  expect(failure).toBeInstanceOf(GantryError);
  expect(failure).toMatchObject({
    status: 0,
    type: "invalid_input",
    retryable: false,
    message: "The file changed or could not be read while it was sent",
  });
  expect(calls).toBe(1);
});
