import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canMount, privateMounts } from "../support/private-mounts.ts";
import { waitFor } from "../support/wait-for.ts";
import { adminKey, bodyOf, endEverything, type ServerProcess, startServer } from "./server-process.ts";

let room: string;
let home: string;
let server: ServerProcess;
let url: string;

beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-full-"));
  home = join(room, "home");
  await mkdir(home, { mode: 0o700 });
});
afterAll(async () => {
  if (server) await endEverything([server], []);
  await rm(room, { recursive: true, force: true });
});

/** Fills the disk with a file; returns a function that frees it. */
async function fillDisk(): Promise<() => Promise<void>> {
  const path = join(`/proc/${server.pid}/root`, home, "filler");
  const file = await open(path, "a");
  // In ever smaller pieces, to the last page.
  for (let size = 1_048_576; size >= 4096; size /= 2) {
    const piece = Buffer.alloc(size);
    while ((await file.write(piece).catch(() => ({ bytesWritten: 0 }))).bytesWritten > 0);
  }
  await file.close();
  return () => rm(path);
}

const call = (path: string, init: RequestInit = {}) =>
  fetch(url + path, { ...init, headers: { "x-api-key": adminKey, ...init.headers } });

const json = (body: object): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

/** Queued, so that the input is stored; random bytes cannot be compressed. */
function predict(): Promise<Response> {
  const body = new FormData();
  body.append("prompt", randomBytes(150_000).toString("base64"));
  return call("/api/v1/gantry/rules/predict/async/", { method: "POST", body });
}

const metric = async (name: string) =>
  new RegExp(`^${name} (.*)$`, "m").exec(await (await call("/metrics")).text())?.[1];

describe.runIf(canMount())("a full disk under the embedded PostgreSQL", () => {
  test("shows in /readyz and metrics, is a 503 with its cause and a 507 for uploads, and recovers by itself", {
    timeout: 120_000,
  }, async () => {
    const mount = 'mount -t tmpfs -o size=160m none "$1" && shift && exec "$@"';
    server = startServer({ GANTRY_HOME: home, GANTRY_ADMIN_KEY: adminKey }, [
      ...privateMounts,
      ...["sh", "-c", mount, "sh", home],
    ]);
    url = await server.url();
    const drive = await bodyOf(await call("/v1/drives", json({ name: "papers" })));
    expect((await predict()).status).toBe(200);
    expect([(await call("/readyz")).status, await metric("gantry_database_full")]).toEqual([200, "0"]);

    const giveBack = await fillDisk();
    let refused: Response | undefined;
    await waitFor(
      "a prediction that finds no room",
      async () => {
        const answer = await predict();
        if (answer.status !== 200) refused = answer;
        return refused !== undefined;
      },
      60_000,
    );
    expect(refused?.headers.get("x-service-retryable")).toBe("true");
    expect([refused?.status, (await bodyOf(refused ?? new Response())).detail[0]]).toMatchObject([
      503,
      { type: "service_unavailable", msg: "The database disk is full. Nothing can be stored." },
    ]);
    const readiness = await call("/readyz");
    expect([readiness.status, await bodyOf(readiness)]).toEqual([
      503,
      { status: "not ready", reason: "The database disk is full. Nothing can be stored." },
    ]);
    expect([await metric("gantry_database_full"), await metric("gantry_database_up")]).toEqual(["1", "1"]);
    expect((await call("/healthz")).status).toBe(200);

    const file = new FormData();
    file.append("file", new Blob([Buffer.alloc(3_000_000)]), "zeros.bin");
    const uploaded = await call("/api/v1/gantry/image/upload_file", { method: "POST", body: file });
    expect([uploaded.status, (await bodyOf(uploaded)).detail?.[0]?.type]).toEqual([507, "storage_full"]);
    // Too large for the disk, and so small that only its row does not fit.
    for (const bytes of [3_000_000, 1]) {
      const form = new FormData();
      form.append("path", "/zeros.bin");
      form.append("file", new Blob([Buffer.alloc(bytes)]), "zeros.bin");
      const written = await call(`/v1/drives/${drive.id}/files`, { method: "POST", body: form });
      expect([written.status, (await bodyOf(written)).error.message]).toEqual([
        507,
        "There is not enough disk space to store the file",
      ]);
    }
    // Not ready while full: reads and in-place updates do not prove free space.
    await sleep(5_000);
    expect((await call("/readyz")).status).toBe(503);

    await giveBack();
    await waitFor("it to be ready by itself", async () => (await call("/readyz")).status === 200, 20_000);
    expect(await metric("gantry_database_full")).toBe("0");
    expect((await predict()).status).toBe(200);
    server.kill("SIGTERM");
    expect((await server.exit).code).toBe(0);
  });
});
