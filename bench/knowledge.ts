/**
 * Search over a drive of 100,000 chunks with vectors of 768 dimensions, beside a hundred other drives: by words, by
 * vectors and by both, over HTTP to a real server with an embedded database. The embedding model answers at once. One
 * search at a time, then four at a time.
 *
 *     node bench/knowledge.ts [chunks]
 */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { newId } from "@gantry/wire";
import { ownSchema } from "../apps/server/src/compose/own-schema.ts";
import { migrate, startEmbeddedDatabase } from "../apps/server/src/engines/database/index.ts";
import { openAccounts } from "../apps/server/src/features/accounts/index.ts";
import { systemClock } from "../apps/server/src/kernel/clock.ts";
import { createLog } from "../apps/server/src/kernel/log.ts";
import { fillChunks, someWord } from "./support/fill-chunks.ts";
import { adminKey } from "./support/gantry.ts";
import { cpuSecondsOf, serve } from "./support/processes.ts";
import { numbersFrom, unitVector } from "./support/vectors.ts";
import { verdict } from "./support/verdict.ts";

const chunks = Number(process.argv[2] ?? 100_000);
const dimensions = 768;
const budgetMs = 150;
const searches = 200;
const warmups = 10;
const driveId = newId("drive");
const next = numbersFrom(7);

async function prepare(home: string): Promise<void> {
  const database = await startEmbeddedDatabase({ home, deadlineMs: 600_000 });
  try {
    await migrate(database, ownSchema);
    const accounts = await openAccounts({ database, clock: systemClock, log: createLog("silent") });
    const { adminId } = await accounts.bootstrap(adminKey);
    await accounts.close();
    await fillChunks(database, { ownerId: adminId, driveId, chunks, dimensions, model: "admin/embedding" });
  } finally {
    await database.close();
  }
}

/** Answers each text with some vector. */
const upstream = createServer(async (request, response) => {
  const { input } = JSON.parse(String(await buffer(request)));
  const data = [input].flat().map((_, index) => ({ index, embedding: [...unitVector(dimensions, next)] }));
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ object: "list", data, usage: { prompt_tokens: 8, total_tokens: 8 } }));
});

async function call(base: string, path: string, init: RequestInit = {}): Promise<{ mode: string; results: unknown[] }> {
  const headers = { "x-api-key": adminKey, "content-type": "application/json" };
  const response = await fetch(`${base}${path}`, { headers, ...init });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

async function search(base: string, mode: string): Promise<number> {
  const words = Array.from({ length: 3 + Math.floor(next() * 4) }, () => someWord(next));
  const startedAt = performance.now();
  const answer = await call(base, `/v1/drives/${driveId}/search?q=${words.join("+")}&mode=${mode}`);
  const took = performance.now() - startedAt;
  if (answer.mode !== mode || answer.results.length !== 10) throw new Error(`${answer.mode}, ${answer.results.length}`);
  return took;
}

/** A search that takes too long to load the vectors answers by words. */
async function load(base: string): Promise<number> {
  const startedAt = performance.now();
  for (let mode = "text"; mode === "text"; ) {
    ({ mode } = await call(base, `/v1/drives/${driveId}/search?q=${someWord(next)}&mode=vector`));
  }
  return performance.now() - startedAt;
}

async function measure(base: string, mode: string, atOnce: number): Promise<{ p50: number; p95: number }> {
  const times: number[] = [];
  const work = async () => {
    while (times.length < searches) times.push(await search(base, mode));
  };
  for (let n = 0; n < warmups; n++) await search(base, mode);
  await Promise.all(Array.from({ length: atOnce }, work));
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95) };
}

const home = await mkdtemp(join(tmpdir(), "gantry-bench-"));
await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
try {
  const startedAt = performance.now();
  await prepare(home);
  console.log(
    `\n${chunks.toLocaleString("en")} chunks, filled in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`,
  );
  const gantry = await serve(new URL("../apps/server/src/main.ts", import.meta.url), {
    GANTRY_HOME: home,
    GANTRY_ADMIN_KEY: adminKey,
    GANTRY_ALLOW_PRIVATE_NETWORK: "1",
    GANTRY_FIND_MODELS: "0",
    GANTRY_LOG_LEVEL: "warn",
    PORT: "0",
  });
  try {
    const base = `http://127.0.0.1:${gantry.port}`;
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
    const backend = { type: "openai-embeddings", url, model: "bench" };
    const model = { kind: "embedding", visibility: "public", capacity: 20, backend };
    await call(base, "/api/v1/admin/embedding", { method: "PUT", body: JSON.stringify(model) });
    console.log(`  loading the vectors: ${(await load(base)).toFixed(0)} ms`);
    for (const atOnce of [1, 4]) {
      for (const mode of ["text", "vector", "hybrid"]) {
        const before = cpuSecondsOf(gantry.pid);
        const { p50, p95 } = await measure(base, mode, atOnce);
        const cpu = ((cpuSecondsOf(gantry.pid) - before) * 1000) / (searches + warmups);
        const times = `p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, CPU ${cpu.toFixed(1)} ms a search`;
        console.log(`  ${mode.padEnd(6)} ${atOnce} at a time: ${times}`);
        if (atOnce === 1) verdict(`${mode}, p95`, p95, "at most", budgetMs, " ms");
      }
    }
  } finally {
    await gantry.stop();
  }
} finally {
  upstream.close();
  await rm(home, { recursive: true, force: true });
}
