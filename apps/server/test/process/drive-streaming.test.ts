import { type ChildProcess, spawn } from "node:child_process";
import { createHash, type Hash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { driveRecord, maxDriveFileBytes } from "@gantry/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operatorKey } from "../../src/http/agents-api/drive-server.fixture.ts";
import { testDatabaseUrl } from "../support/database.ts";

const fixture = fileURLToPath(new URL("../../src/http/agents-api/drive-server.fixture.ts", import.meta.url));

let home: string;
let child: ChildProcess;
let base: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "drive-streaming-"));
  child = spawn(process.execPath, [fixture, await testDatabaseUrl(), home], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(child.stdout ?? child, "data");
  const url = String(line).trim();
  const answer = await fetch(`${url}/v1/drives`, {
    method: "POST",
    headers: { "x-api-key": operatorKey, "content-type": "application/json" },
    body: JSON.stringify({ name: "large" }),
  });
  base = `${url}/v1/drives/${driveRecord.parse(await answer.json()).id}`;
  await upload("/warm", 1_000_000);
}, 60_000);
afterAll(async () => {
  child.kill("SIGKILL");
  await once(child, "exit");
  await rm(home, { recursive: true, force: true });
});

/** Deterministic, different in every block, and never whole in memory. */
function* content(bytes: number): Generator<Buffer> {
  const block = Buffer.alloc(262_144, "gantry");
  for (let sent = 0; sent < bytes; sent += block.length) {
    const piece = Buffer.from(block.subarray(0, Math.min(block.length, bytes - sent)));
    piece.writeDoubleLE(sent, 0);
    yield piece;
  }
}
const digest = (bytes: number) => {
  const hash = createHash("sha256");
  for (const piece of content(bytes)) hash.update(piece);
  return hash.digest("hex");
};

async function send(
  method: string,
  url: string,
  type: string,
  pieces: Iterable<Buffer>,
): Promise<{ status: number; body: string }> {
  const outgoing = request(url, { method, headers: { "x-api-key": operatorKey, "content-type": type } });
  const answered = once(outgoing, "response");
  answered.catch(() => {});
  // After a refusal the connection closes while this side may still be sending.
  outgoing.on("error", () => {});
  let refused = false;
  outgoing.once("response", () => {
    refused = true;
  });
  for (const piece of pieces) {
    if (refused) break;
    if (!outgoing.write(piece)) await Promise.race([once(outgoing, "drain"), answered]);
  }
  outgoing.end();
  const [response] = await answered;
  let body = "";
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode, body };
}

async function upload(path: string, bytes: number): Promise<string> {
  const { status, body } = await send("POST", `${base}/files`, "multipart/form-data; boundary=b", form(path, bytes));
  expect(status, body).toBe(201);
  expect(JSON.parse(body)).toMatchObject({ path, size: bytes });
  return path;
}

function* form(path: string, bytes: number): Generator<Buffer> {
  yield Buffer.from(
    `--b\r\nContent-Disposition: form-data; name="path"\r\n\r\n${path}\r\n` +
      '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n',
  );
  yield* content(bytes);
  yield Buffer.from("\r\n--b--\r\n");
}

async function put(path: string, bytes: number): Promise<void> {
  const { status, body } = await send("PUT", `${base}/files${path}`, "application/octet-stream", content(bytes));
  expect(status, body).toBe(200);
}

async function download(path: string): Promise<string> {
  const outgoing = request(`${base}/files${path}`, { headers: { "x-api-key": operatorKey } }).end();
  const [response] = await once(outgoing, "response");
  const hash: Hash = createHash("sha256");
  for await (const chunk of response) hash.update(chunk);
  return hash.digest("hex");
}

test("100 MB are uploaded by form, uploaded raw and downloaded, four at a time", {
  timeout: 120_000,
}, async () => {
  // Only of this attempt: files of an earlier one still exist.
  const name = randomUUID();
  const paths = [1, 2, 3, 4].map((n) => `/${name}-${n}`);
  const expected = digest(maxDriveFileBytes);
  await Promise.all(paths.map((path) => upload(path, maxDriveFileBytes)));
  await Promise.all(paths.map((path) => put(path, maxDriveFileBytes)));
  expect(await Promise.all(paths.map(download))).toEqual(paths.map(() => expected));
});

test("an endless upload is cut off at the limit with 413 and leaves no file", {
  timeout: 120_000,
}, async () => {
  const files = async () =>
    (await readdir(join(home, "blobs"), { recursive: true, withFileTypes: true })).filter((one) => one.isFile()).length;
  const stored = await files();
  const answers = [
    await send("PUT", `${base}/files/warm`, "text/plain", content(2 ** 31)),
    await send("POST", `${base}/files`, "multipart/form-data; boundary=b", form("/endless", 2 ** 31)),
  ];
  for (const { status, body } of answers) {
    expect([status, JSON.parse(body).error.type]).toEqual([413, "file_too_large"]);
  }
  expect(await files()).toBe(stored);
});
