/**
 * Queued predictions from acceptance to their end. Gantry, woken by PostgreSQL and by RabbitMQ, checks keys, limits and
 * funds and records usage and charge. Compared with bare services: BullMQ on a Redis that writes every change to disk (the
 * same durability), pg-boss on the same PostgreSQL, and a bare queue with only two writes, which shows what is left to
 * gain. The upstream answers at once, and 64 jobs run in parallel everywhere. Then the effect of a long queue on
 * acceptance and claims.
 *
 *     node bench/async.ts [seconds] [rounds] [queued …]       default 5, 3, 1000 and 1000000
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { startEmbeddedDatabase } from "../apps/server/src/engines/database/index.ts";
import { claimJobs, releaseJobs } from "../apps/server/src/features/predictions/store.ts";
import { rabbitMq, startRabbitMqNode } from "../apps/server/test/support/rabbitmq-node.ts";
import { obtain } from "../apps/server/test/support/system-packages.ts";
import { countCpu } from "./support/cpu.ts";
import { addUsers, emptyQueue, fillQueue } from "./support/fill-queue.ts";
import { adminKey, type ServedGantry, serveGantry } from "./support/gantry.ts";
import { formRequest, load } from "./support/load.ts";
import { median } from "./support/median.ts";
import { installPeers } from "./support/peers.ts";
import { type Served, serve } from "./support/processes.ts";
import { startRedis } from "./support/redis.ts";
import { verdict } from "./support/verdict.ts";

const [seconds = 5, rounds = 3, ...given] = process.argv.slice(2).map(Number);
const queued = given.length > 0 ? given : [1_000, 1_000_000];
const connections = 64;
const parallel = 64;
const warmUpSeconds = 4;
const latencySamples = 200;
const claimedAtOnce = 50;

const home = await mkdtemp(join(tmpdir(), "gantry-bench-"));
const database = await startEmbeddedDatabase({ home, deadlineMs: 3_600_000 });
const upstream = await serve(new URL("./support/instant-upstream.ts", import.meta.url));

/** A queue behind HTTP. */
interface Way {
  name: string;
  served: Served;
  /** The process of the database or Redis. */
  enginePid: number;
  accept: Buffer;
  /** Number of accepted jobs that have not ended. */
  unfinished(accepted: number): Promise<number>;
  /** Runs one job from the request to its end. */
  runOne(pool: Pool): Promise<void>;
  stop(): Promise<void>;
}

interface Item {
  infer_details: { status: number };
}

const text = { type: "string" };
const manifest = {
  title: "Instant",
  description: "Answers at once.",
  kind: "other",
  visibility: "public",
  capacity: 1000,
  max_queue_seconds: 3600,
  pricing: { per_request: 0.000001 },
  input: { type: "object", required: ["prompt"], properties: { prompt: text, style: text, mood: text, size: text } },
  output: { type: "object", required: ["output"], properties: { output: text } },
  backend: { type: "cog", url: `http://127.0.0.1:${upstream.port}` },
};
const fields = { prompt: "a lighthouse in the fog", style: "ink", mood: "calm", size: "2k" };
const acceptForm = formRequest("/api/v1/admin/instant/predict/async/", fields, { "X-API-KEY": adminKey });
const formHeaders = {
  "x-api-key": adminKey,
  "content-type": /Content-Type: (.*)\r\n/.exec(String(acceptForm))?.[1] ?? "",
};
const formBody = acceptForm.subarray(acceptForm.indexOf("\r\n\r\n") + 4);

const startGantry = async (env: Record<string, string> = {}): Promise<ServedGantry> => {
  const gantry = await serveGantry({ DATABASE_URL: database.url, GANTRY_WORKER_PARALLEL: String(parallel), ...env });
  await gantry.putModel("instant", manifest);
  return gantry;
};

async function gantryWay(name: string, env: Record<string, string> = {}): Promise<Way> {
  const gantry = await startGantry(env);
  return {
    name,
    served: gantry,
    enginePid: database.pid,
    accept: acceptForm,
    async unfinished() {
      const [row] = await database.sql<{ n: number }[]>`select count(*)::int as n from live_predictions`;
      return row?.n ?? 0;
    },
    async runOne(pool) {
      const base = "/api/v1/admin/instant/predict/async/";
      const accepted = await pool.request({ method: "POST", path: base, headers: formHeaders, body: formBody });
      const { prediction_id: id } = (await accepted.body.json()) as { prediction_id: string };
      const path = `${base}result/?request_id=${id}&wait=30`;
      const result = await pool.request({ method: "GET", path, headers: { "x-api-key": adminKey } });
      const { inference_responses: items } = (await result.body.json()) as {
        inference_responses: Item[];
      };
      if (items[0]?.infer_details.status !== 200) throw new Error(`a job ended as ${JSON.stringify(items)}`);
    },
    stop: () => gantry.stop(),
  };
}

async function peerWay(name: string, script: string, enginePid: number, env: Record<string, string>): Promise<Way> {
  const served = await serve(new URL(`./support/${script}`, import.meta.url), {
    UPSTREAM_PORT: String(upstream.port),
    PARALLEL: String(parallel),
    ...env,
  });
  const body = JSON.stringify(fields);
  const head = `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  const ended = async () => {
    const response = await fetch(`http://127.0.0.1:${served.port}/ended`);
    return ((await response.json()) as { ended: number }).ended;
  };
  let endedBefore = 0;
  return {
    name,
    served,
    enginePid,
    accept: Buffer.from(`${head}\r\n\r\n${body}`),
    async unfinished(accepted) {
      const left = endedBefore + accepted - (await ended());
      if (left === 0) endedBefore += accepted;
      return left;
    },
    async runOne(pool) {
      const accepted = await pool.request({ method: "POST", path: "/", body });
      const { id } = (await accepted.body.json()) as { id: string };
      const result = await pool.request({ method: "GET", path: `/result/${id}` });
      await result.body.dump();
      endedBefore += 1;
    },
    stop: served.stop,
  };
}

const percentiles = (times: number[]) => {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
};
const shown = ({ p50, p99 }: { p50: number; p99: number }) => `p50 ${p50.toFixed(1)} ms  p99 ${p99.toFixed(1)} ms`;

/** Sends jobs for some seconds and waits until all have ended. */
async function runJobs(way: Way, seconds: number): Promise<{ requests: number; acceptedAfter: number }> {
  const startedAt = performance.now();
  const { requests, failures } = await load({ port: way.served.port, request: way.accept, connections, seconds });
  if (failures > 0) throw new Error(`${way.name}: ${failures} of ${requests} were not accepted`);
  const acceptedAfter = (performance.now() - startedAt) / 1000;
  while ((await way.unfinished(requests)) > 0) await sleep(20);
  return { requests, acceptedAfter };
}

/** Ended jobs per second, after a warm-up. */
async function throughput(way: Way): Promise<number> {
  await runJobs(way, warmUpSeconds);
  const [own, engine] = [countCpu(way.served.pid), countCpu(way.enginePid)];
  const startedAt = performance.now();
  const { requests, acceptedAfter } = await runJobs(way, seconds);
  const elapsed = (performance.now() - startedAt) / 1000;
  const used = engine();
  const micros = (cpu: number) => Math.round((cpu / requests) * 1e6);
  console.log(
    `  ${way.name.padEnd(18)} ${(requests / elapsed).toFixed(0).padStart(6)} jobs/s to the end ` +
      `(${(requests / acceptedAfter).toFixed(0)} accepted a second)  ` +
      `CPU µs a job: process ${micros(own().own)}, engine ${micros(used.own + used.below)}`,
  );
  return requests / elapsed;
}

async function latency(way: Way): Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${way.served.port}`, { connections: 1 });
  const times: number[] = [];
  for (let n = -20; n < latencySamples; n++) {
    const startedAt = performance.now();
    await way.runOne(pool);
    if (n >= 0) times.push(performance.now() - startedAt);
  }
  await pool.close();
  console.log(`  ${way.name.padEnd(18)} one job at a time, request to known end: ${shown(percentiles(times))}`);
}

/** Restarts Gantry for each driver and alternates between drivers. */
async function compare(): Promise<void> {
  const redis = await startRedis();
  const noRabbit = await obtain(rabbitMq);
  if (noRabbit) console.log(`SKIPPED: wake-ups by RabbitMQ. ${noRabbit}`);
  const rabbit = noRabbit ? undefined : await startRabbitMqNode(1);
  const peers = installPeers();
  const starts: (() => Promise<Way>)[] = [() => gantryWay("gantry, PostgreSQL")];
  if (rabbit) starts.push(() => gantryWay("gantry, RabbitMQ", { AMQP_URL: rabbit.url(0) }));
  if (peers && redis)
    starts.push(() => peerWay("BullMQ", "bullmq-service.ts", redis.pid, { REDIS_PORT: String(redis.port) }));
  if (peers) starts.push(() => peerWay("pg-boss", "pg-boss-service.ts", database.pid, { BOSS_URL: database.url }));
  starts.push(() => peerWay("bare queue", "bare-queue-service.ts", database.pid, { QUEUE_URL: database.url }));
  const rates = new Map<string, number[]>();
  try {
    console.log(`accept → terminal, ${connections} connections for ${seconds} s`);
    for (let round = 0; round < rounds; round++) {
      for (const start of starts) {
        const way = await start();
        try {
          await latency(way);
          rates.set(way.name, [...(rates.get(way.name) ?? []), await throughput(way)]);
        } finally {
          await way.stop();
        }
      }
    }
  } finally {
    await redis?.stop();
    await rabbit?.stop();
  }
  const rateOf = (name: string) => median(rates.get(name) ?? []);
  for (const [name, found] of rates)
    console.log(`  ${name.padEnd(18)} ${found.map((rate) => rate.toFixed(0)).join(", ")}`);
  for (const name of ["gantry, PostgreSQL", "gantry, RabbitMQ"]) {
    if (rates.has(name) && rates.has("BullMQ"))
      verdict(`${name} against BullMQ`, rateOf(name) / rateOf("BullMQ"), "at least", 2);
  }
}

/** Acceptance and claims behind a long queue. Without a worker, so that the queue stays. */
async function longQueue(): Promise<void> {
  const gantry = await startGantry({ GANTRY_ROLE: "api" });
  try {
    const [model] = await database.sql<{ id: string }[]>`select id from models where name = 'instant'`;
    const [admin] = await database.sql<{ id: string }[]>`select id from users where username = 'admin'`;
    if (!model || !admin) throw new Error("the model or its owner does not exist");
    const crowd = await addUsers(database, 1000);
    await load({ port: gantry.port, request: acceptForm, connections: 8, seconds: 2 });
    for (const [whose, userIds] of Object.entries({ "one user": [admin.id], "1,000 users": crowd })) {
      const found: { accept: number; claim: number }[] = [];
      for (const rows of queued) {
        await emptyQueue(database);
        await fillQueue(database, { rows, userIds, model: { id: model.id, name: "admin/instant" } });
        const alone = await load({ port: gantry.port, request: acceptForm, connections: 1, seconds });
        const many = await load({ port: gantry.port, request: acceptForm, connections, seconds });
        const claims = await claimTimes();
        found.push({ accept: many.perSecond, claim: claims.p50 });
        console.log(
          `\n  ${rows.toLocaleString("en")} queued by ${whose}, in the same model\n` +
            `    accepting, one after another: ${shown(alone)}\n` +
            `    accepting, ${connections} connections: ${many.perSecond.toFixed(0)} a second  ${shown(many)}\n` +
            `    claiming ${claimedAtOnce}: ${shown(claims)}`,
        );
        if (alone.failures + many.failures > 0) throw new Error("not all were accepted");
      }
      const [few, last] = [found[0], found.at(-1)];
      if (!few || !last || few === last) continue;
      verdict(
        `accepting behind ${queued.at(-1)} of ${whose}, of the rate behind ${queued[0]}`,
        last.accept / few.accept,
        "at least",
        0.8,
      );
      verdict(
        `claiming behind ${queued.at(-1)} of ${whose}, of the time behind ${queued[0]}`,
        last.claim / few.claim,
        "at most",
        1.5,
      );
    }
  } finally {
    await gantry.stop();
  }
}

async function claimTimes(): Promise<{ p50: number; p99: number }> {
  const times: number[] = [];
  let empty = 0;
  for (let n = 0; n < latencySamples; n++) {
    const startedAt = performance.now();
    const jobs = await claimJobs(database.sql, "node_bench", claimedAtOnce);
    times.push(performance.now() - startedAt);
    // The server treats this claimant as a dead node. While it releases the jobs, claims skip them.
    if (jobs.length === 0 && ++empty > 3) throw new Error("claims found nothing");
    await releaseJobs(database.sql, jobs, false);
  }
  return percentiles(times);
}

try {
  await compare();
  await longQueue();
} finally {
  await upstream.stop();
  await database.close();
  await rm(home, { recursive: true, force: true });
}
