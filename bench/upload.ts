/**
 * A 5 MB upload to `POST /upload_file` (key, form, content type by its bytes, owner recorded, on disk before the answer)
 * compared with piping the raw body to disk, in one run; and the memory of the server during large uploads.
 *
 *     node bench/upload.ts [seconds per measurement] [rounds]
 */
import { mkdtemp, readdir, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "./support/load.ts";
import { median } from "./support/median.ts";
import { cpuSecondsOf, type Served, serve } from "./support/processes.ts";
import { growthDuring } from "./support/resident.ts";
import { verdict } from "./support/verdict.ts";

const seconds = Number(process.argv[2] ?? 4);
const rounds = Number(process.argv[3] ?? 3);
const megabyte = 1_000_000;
const adminKey = "bench-admin-key-0123456789-0123456789";

const home = await mkdtemp(join(tmpdir(), "gantry-bench-"));
const gantry = await serve(new URL("../apps/server/src/main.ts", import.meta.url), {
  GANTRY_HOME: home,
  GANTRY_ADMIN_KEY: adminKey,
  GANTRY_LOG_LEVEL: "warn",
  PORT: "0",
});
const pipeFile = new URL("./support/pipe-to-disk.ts", import.meta.url);
const pipe = await serve(pipeFile, { UPLOADS: home });
const durablePipe = await serve(pipeFile, { UPLOADS: home, DURABLE: "1" });

/** All receive the same bytes: a form with one file, which the pipe stores unparsed. */
function uploadRequest(bytes: number): Buffer {
  const content = Buffer.alloc(bytes, "The quick brown fox jumps over the lazy dog. ");
  const head = '--bench\r\nContent-Disposition: form-data; name="file"; filename="fox.txt"\r\n\r\n';
  const body = Buffer.concat([Buffer.from(head), content, Buffer.from("\r\n--bench--\r\n")]);
  const header = [
    "POST /api/v1/gantry/image/upload_file HTTP/1.1",
    "Host: 127.0.0.1",
    `X-API-KEY: ${adminKey}`,
    "Content-Type: multipart/form-data; boundary=bench",
    `Content-Length: ${body.length}`,
  ].join("\r\n");
  return Buffer.concat([Buffer.from(`${header}\r\n\r\n`), body]);
}

async function measure(name: string, served: Served, request: Buffer, connections: number): Promise<number> {
  const before = cpuSecondsOf(served.pid);
  const result = await load({ port: served.port, request, connections, seconds });
  const cpu = ((cpuSecondsOf(served.pid) - before) / result.requests) * 1000;
  console.log(
    `${name.padEnd(14)} ${String(connections).padStart(3)} connections: ${result.perSecond.toFixed(1).padStart(6)} /s  ` +
      `p50 ${result.p50.toFixed(1)} ms  p99 ${result.p99.toFixed(1)} ms  CPU ${cpu.toFixed(2)} ms an upload`,
  );
  if (result.failures > 0) throw new Error("the run had failures, so its figures are invalid");
  await emptyDisk();
  return result.perSecond;
}

/**
 * Between measurements, so that no run writes back dirty pages of another. The empty files stay, because ext4 is slow to
 * place new files right after many deletions.
 */
async function emptyDisk(): Promise<void> {
  for (const name of await readdir(home, { recursive: true })) {
    if (!/^(pipe-[^/]+\/\d+|blobs\/.*\/[0-9a-f]{64})$/.test(name)) continue;
    await truncate(join(home, name));
  }
}

async function uploadSome(bytes: number): Promise<void> {
  const result = await load({ port: gantry.port, request: uploadRequest(bytes), connections: 1, seconds: 0.5 });
  if (result.requests === 0 || result.failures > 0) throw new Error("no upload succeeded, so the figure is invalid");
}

try {
  const five = uploadRequest(5 * megabyte);
  // Warms up with thousands of small files.
  const small = uploadRequest(0.1 * megabyte);
  for (const one of [gantry, pipe, durablePipe]) {
    await load({ port: one.port, request: small, connections: 16, seconds: 6 });
    await load({ port: one.port, request: five, connections: 8, seconds: 1 });
  }
  await emptyDisk();
  for (const connections of [1, 16]) {
    const ratios: { plain: number; durable: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const bare = await measure("pipe", pipe, five, connections);
      const durable = await measure("pipe and sync", durablePipe, five, connections);
      const own = await measure("gantry", gantry, five, connections);
      ratios.push({ plain: own / bare, durable: own / durable });
    }
    const shown = (kind: "plain" | "durable") => ratios.map((ratio) => ratio[kind].toFixed(2)).join(", ");
    console.log(
      `ratio at ${connections}: ${shown("durable")} of piping with the same durability; ` +
        `${shown("plain")} of piping into the page cache alone`,
    );
    const figure = median(ratios.map(({ durable }) => durable));
    verdict(`rate at ${connections} against piping with the same durability`, figure, "at least", 0.85);
  }
  for (const megabytes of [5, 50, 400]) {
    const growth = await growthDuring(gantry.pid, () => uploadSome(megabytes * megabyte));
    await emptyDisk();
    verdict(`more memory while ${megabytes} MB go through`, growth, "at most", 100, " MB");
  }
} finally {
  await Promise.all([gantry.stop(), pipe.stop(), durablePipe.stop()]);
  await rm(home, { recursive: true, force: true });
}
