import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canMount, privateMounts } from "../support/private-mounts.ts";
import { waitFor } from "../support/wait-for.ts";
import { adminKey, bodyOf, endEverything, type ServerProcess, startServer } from "./server-process.ts";

let room: string;
const started = new Set<ServerProcess>();
const homes = new Set<string>();

function start(home: string, prefix: readonly string[] = []): ServerProcess {
  homes.add(home);
  const server = startServer({ GANTRY_HOME: home, GANTRY_ADMIN_KEY: adminKey }, prefix);
  started.add(server);
  return server;
}

interface Upload {
  bytes: number;
  /** With a Content-Length, or in chunks. */
  announced: boolean;
  path?: string;
  field?: string;
}

/** Sends a form with one generated file of zeros; resolves with the first answer. */
function upload(url: string, { bytes, announced, path = "/api/v1/gantry/image/upload_file", field = "file" }: Upload) {
  const head = Buffer.from(`--b\r\nContent-Disposition: form-data; name="${field}"; filename="zeros.bin"\r\n\r\n`);
  const tail = Buffer.from("\r\n--b--\r\n");
  const block = Buffer.alloc(1_048_576);
  let sent = 0;
  return new Promise<{ status: number; body: string; sent: number }>((resolve, reject) => {
    const length = announced ? { "content-length": head.length + bytes + tail.length } : {};
    const outgoing = request(url + path, {
      method: "POST",
      headers: { "x-api-key": adminKey, "content-type": "multipart/form-data; boundary=b", ...length },
    });
    let answered = false;
    outgoing.on("response", async (incoming) => {
      answered = true;
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks).toString(), sent });
      outgoing.destroy();
    });
    outgoing.on("error", (error) => {
      if (!answered) reject(error);
    });
    const send = () => {
      while (sent < bytes && !answered) {
        const piece = block.subarray(0, Math.min(block.length, bytes - sent));
        sent += piece.length;
        if (!outgoing.write(piece)) return void outgoing.once("drain", send);
      }
      if (!answered) outgoing.end(tail);
    };
    outgoing.write(head);
    send();
  });
}

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-uploads-"));
});

afterAll(async () => {
  await endEverything(started, homes);
  await rm(room, { recursive: true, force: true });
});

describe("a large upload", () => {
  let home: string;
  let server: ServerProcess;
  let url: string;

  beforeAll(async () => {
    home = join(room, "large");
    server = start(home);
    url = await server.url();
  }, 60_000);

  test("of 400 MB is stored", { timeout: 120_000 }, async () => {
    const result = await upload(url, { bytes: 400_000_000, announced: true });
    expect(result.status, result.body).toBe(200);
    expect(JSON.parse(result.body).file_input.size).toBe(400_000_000);
  });

  test("that announces 2 GB is refused at once", async () => {
    const files = await filesIn(join(home, "blobs"));
    const refused = await upload(url, { bytes: 2 ** 31, announced: true });
    expect(refused.status).toBe(422);
    expect(JSON.parse(refused.body).detail[0]).toMatchObject({ type: "file_too_large", loc: ["body", "file"] });
    expect(refused.sent).toBeLessThan(64_000_000);
    expect(await filesIn(join(home, "blobs"))).toEqual(files);
  });

  test("without a declared length is cut off at the limit and leaves no file", {
    timeout: 120_000,
  }, async () => {
    const files = await filesIn(join(home, "blobs"));
    const result = await upload(url, { bytes: 2 ** 31, announced: false });
    expect(result.status).toBe(422);
    expect(JSON.parse(result.body).detail[0]).toMatchObject({ type: "file_too_large", ctx: { max_size: 524_288_000 } });
    expect(result.sent).toBeLessThan(600_000_000);
    expect(await filesIn(join(home, "blobs"))).toEqual(files);
  });

  test("as an input is cut off at its field's limit and leaves no file", async () => {
    const refused = await upload(url, {
      bytes: 2 ** 31,
      announced: true,
      path: "/api/v1/gantry/image/predict",
      field: "image",
    });
    expect(refused.status).toBe(422);
    const types = JSON.parse(refused.body).detail.map((one: { type: string }) => one.type);
    expect(types).toContain("file_too_large");
    expect(refused.sent).toBeLessThan(128_000_000);
    expect(await filesIn(join(home, "spool"))).toEqual([]);
  });
});

describe.runIf(canMount())("a full disk", () => {
  test("is a retryable 507 that costs nothing and leaves no file", { timeout: 90_000 }, async () => {
    const home = join(room, "full");
    await mkdir(join(home, "blobs"), { recursive: true, mode: 0o700 });
    await mkdir(join(home, "spool"), { mode: 0o700 });
    const mount =
      'mount -t tmpfs -o size=8m none "$1/blobs" && mount -t tmpfs -o size=4m none "$1/spool" && shift && exec "$@"';
    const server = start(home, [...privateMounts, "sh", "-c", mount, "sh", home]);
    const url = await server.url();
    const inside = (name: string) => join(`/proc/${server.pid}/root`, home, name);
    const balance = async () =>
      (await bodyOf(await fetch(`${url}/api/v2/me`, { headers: { "x-api-key": adminKey } }))).balance;

    const refused = await upload(url, { bytes: 16_000_000, announced: true });
    expect(refused.status).toBe(507);
    expect(JSON.parse(refused.body).detail[0]).toMatchObject({ type: "storage_full" });
    expect(await filesIn(inside("blobs"))).toEqual([]);

    const input = { bytes: 16_000_000, announced: true, path: "/api/v1/gantry/image/predict", field: "image" };
    const noRoomForInput = await upload(url, input);
    expect(noRoomForInput.status, noRoomForInput.body).toBe(507);
    expect(await filesIn(inside("spool"))).toEqual([]);

    // Small uploads fit again until they fill the disk.
    const before = await balance();
    expect((await upload(url, { bytes: 8_000_000, announced: true })).status).toBe(200);
    const kept = await filesIn(inside("blobs"));
    const form = new FormData();
    form.append("prompt", "a lighthouse in the fog");
    form.append("size", "2048x2048");
    const predicted = await fetch(`${url}/api/v1/gantry/image/predict`, {
      method: "POST",
      headers: { "x-api-key": adminKey },
      body: form,
    });
    expect(predicted.status).toBe(507);
    expect(predicted.headers.get("x-service-retryable")).toBe("true");
    expect((await bodyOf(predicted)).detail[0]).toMatchObject({ type: "storage_full" });
    expect(await filesIn(inside("blobs"))).toEqual(kept);
    expect(await balance()).toBe(before);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    server.kill("SIGTERM");
    await waitFor("the server to end", async () => (await server.exit).code === 0, 30_000);
  });
});
