/**
 * Relaying Server-Sent Events, 200 tokens per stream: Gantry (every event parsed, counted and charged, admission and
 * settlement committed), a bare `http.pipe` and @portkey-ai/gateway, on one mock upstream, in one run.
 *
 *     node bench/stream.ts [streams …]        default 64, 256 and 1000; ROUNDS=3
 *
 * Measures the delay that the relay adds to a token at a pace below saturation, the CPU per token at full speed, and
 * how long the upstream continues after clients disconnect. The CPU budget applies at full speed: at a slower pace most of
 * the cost is waking up, which is the same for every relay.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { countCpu, countOwnCpu } from "./support/cpu.ts";
import { adminKey, serveGantry } from "./support/gantry.ts";
import { formRequest, jsonRequest } from "./support/load.ts";
import { median } from "./support/median.ts";
import { installPeers } from "./support/peers.ts";
import { type Served, serve } from "./support/processes.ts";
import { loadStreams } from "./support/stream-load.ts";
import { verdict } from "./support/verdict.ts";

const tokens = 200;
const given = process.argv.slice(2).map(Number);
const counts = given.length > 0 ? given : [64, 256, 1000];
const rounds = Number(process.env.ROUNDS ?? 3);
const warmUpRounds = 16;
/** As in the budget. */
const budgetedStreams = 256;
/** About 6,400 tokens per second, a quarter of what one core relays. Fewer with very many streams. */
const paceOf = (streams: number) => Math.min(100, Math.max(5, Math.round(streams / 6.4)));

const upstream = await serve(new URL("./support/token-upstream.ts", import.meta.url), { TOKENS: String(tokens) });
const toUpstream = { UPSTREAM_PORT: String(upstream.port) };
const pipe = await serve(new URL("./support/pipe-relay.ts", import.meta.url), toUpstream);
const portkey = installPeers()
  ? await serve(new URL("./support/portkey.ts", import.meta.url), { NODE_ENV: "production" })
  : undefined;
const gantry = await serveGantry();
const base = `http://127.0.0.1:${upstream.port}/v1`;

function chatRequest(headers: Record<string, string>): Buffer {
  const messages = [{ role: "user", content: "a lighthouse in the fog" }];
  const body = { model: "mock-1", messages, stream: true, stream_options: { include_usage: true } };
  return jsonRequest("/v1/chat/completions", body, { Authorization: "Bearer bench", ...headers });
}

interface Way {
  name: "direct" | "pipe" | "gantry" | "portkey";
  served: Served;
  request: Buffer;
}

const form = formRequest(
  "/api/v1/admin/tokens/predict/stream/",
  { prompt: "a lighthouse in the fog" },
  { "X-API-KEY": adminKey },
);
const ways: Way[] = [
  { name: "direct", served: upstream, request: chatRequest({}) },
  { name: "pipe", served: pipe, request: chatRequest({}) },
  { name: "gantry", served: gantry, request: form },
];
if (portkey) {
  const headers = { "x-portkey-provider": "openai", "x-portkey-custom-host": base };
  ways.push({ name: "portkey", served: portkey, request: chatRequest(headers) });
}

async function ask(path: string): Promise<number> {
  return Number(await (await fetch(`http://127.0.0.1:${upstream.port}${path}`)).text());
}

interface Figures {
  /** µs of CPU per token, of the relay and of its database. */
  cpu: number;
  database: number;
  p50: number;
  p99: number;
  perSecond: number;
}

async function measure(way: Way, streams: number): Promise<Figures> {
  const relay = countCpu(way.served.pid);
  const mock = countCpu(upstream.pid);
  const client = countOwnCpu();
  const startedAt = performance.now();
  const { tokens: seen, seconds, p50, p99 } = await loadStreams({ ...way, port: way.served.port, streams });
  const elapsed = (performance.now() - startedAt) / 1000;
  if (seen !== streams * tokens) throw new Error(`${way.name} brought ${seen} of ${streams * tokens} tokens`);
  const used = relay();
  const micros = (cpu: number) => (cpu / seen) * 1e6;
  const share = (cpu: number) => `${Math.round((cpu / elapsed) * 100)} %`;
  const own = way.name === "direct" ? "" : `relay ${micros(used.own).toFixed(1)} µs a token (${share(used.own)}), `;
  const database = way.name === "gantry" ? `PostgreSQL ${micros(used.below).toFixed(1)} (${share(used.below)}), ` : "";
  console.log(
    `  ${way.name.padEnd(8)} ${(seen / seconds).toFixed(0).padStart(6)} tokens/s  age p50 ${p50.toFixed(2).padStart(6)} ms  ` +
      `p99 ${p99.toFixed(2).padStart(7)} ms  CPU: ${own}${database}` +
      `mock ${micros(mock().own).toFixed(1)} (${share(mock().own)}), load client ${micros(client()).toFixed(1)} (${share(client())})`,
  );
  return { cpu: micros(used.own), database: micros(used.below), p50, p99, perSecond: seen / seconds };
}

/** Streams that still run upstream a second after all clients disconnected. */
async function leave(way: Way, streams: number): Promise<number> {
  await loadStreams({ ...way, port: way.served.port, streams, leaveAfter: 5 });
  await sleep(1000);
  const left = await ask("/open");
  console.log(`  ${way.name.padEnd(8)} ${left} of ${streams} streams left upstream`);
  while ((await ask("/open")) > 0) await sleep(200);
  return left;
}

async function paced(streams: number): Promise<void> {
  const paceMs = paceOf(streams);
  console.log(`\n${streams} streams, a token every ${paceMs} ms each, ${rounds} rounds`);
  await ask(`/pace?ms=${paceMs}`);
  const found = await measureAll(streams, rounds);
  const { toPipe, toPortkey } = compare(found);
  console.log(`  CPU a token: ${toPipe.toFixed(2)} of http.pipe, ${toPortkey.toFixed(2)} times Portkey`);
  const p50 = (name: Way["name"]) => median((found.get(name) ?? []).map((one) => one.p50));
  verdict(`added delay p50, ${streams} streams`, p50("gantry") - p50("direct"), "at most", 1, " ms");
}

async function measureAll(streams: number, times: number): Promise<Map<Way["name"], Figures[]>> {
  const found = new Map<Way["name"], Figures[]>();
  for (let round = 0; round < times; round++) {
    for (const way of ways) found.set(way.name, [...(found.get(way.name) ?? []), await measure(way, streams)]);
  }
  return found;
}

function compare(found: ReadonlyMap<Way["name"], readonly Figures[]>): { toPipe: number; toPortkey: number } {
  const of = (name: Way["name"], pick: (one: Figures) => number) => median((found.get(name) ?? []).map(pick));
  const cpu = (name: Way["name"]) => of(name, (one) => one.cpu);
  for (const name of ["pipe", "gantry", "portkey"] as const) {
    if (!found.has(name)) continue;
    const added = (pick: (one: Figures) => number) => (of(name, pick) - of("direct", pick)).toFixed(2);
    console.log(
      `  ${name.padEnd(8)} median: ${cpu(name).toFixed(1)} µs a token, ` +
        `added delay p50 ${added((one) => one.p50)} ms, p99 ${added((one) => one.p99)} ms`,
    );
  }
  const withDatabase = of("gantry", (one) => one.cpu + one.database);
  console.log(`  with PostgreSQL Gantry is ${(cpu("pipe") / withDatabase).toFixed(2)} of http.pipe`);
  return { toPipe: cpu("pipe") / cpu("gantry"), toPortkey: cpu("portkey") / cpu("gantry") };
}

async function saturated(streams: number): Promise<void> {
  // A round is over within a second.
  const times = rounds * 5;
  console.log(`\n${streams} streams as fast as possible (tokens of one stream come together), ${times} rounds`);
  await ask("/pace?ms=0");
  const { toPipe, toPortkey } = compare(await measureAll(streams, times));
  console.log(`  CPU a token: ${toPipe.toFixed(2)} of http.pipe, ${toPortkey.toFixed(2)} times Portkey`);
  if (streams !== budgetedStreams) return;
  verdict(`CPU a token against http.pipe, ${streams} streams`, toPipe, "at least", 0.8);
  if (portkey) verdict(`CPU a token against Portkey, ${streams} streams`, toPortkey, "at least", 2.5);
}

async function leaving(streams: number): Promise<void> {
  await ask("/pace?ms=40");
  console.log(`\n${streams} clients disconnect during their stream`);
  for (const way of ways) {
    if (way.name === "direct") continue;
    const left = await leave(way, streams);
    if (way.name === "gantry") verdict("streams left upstream after a second", left, "at most", 0);
  }
}

try {
  const text = { type: "string" };
  await gantry.putModel("tokens", {
    title: "Tokens",
    description: "Streams two hundred tokens.",
    kind: "text",
    visibility: "public",
    capacity: 2000,
    model_size_in_billions: 7,
    pricing: { per_million_input_tokens: 1, per_million_output_tokens: 1 },
    input: { type: "object", required: ["prompt"], properties: { prompt: text, max_tokens: { type: "integer" } } },
    output: { type: "object", required: ["output"], properties: { output: { ...text, isStream: true } } },
    backend: { type: "openai-chat", url: base, model: "mock-1" },
  });
  // Before the warm-up, compilation is a third of the cost of every relay.
  console.log(`warming up: ${warmUpRounds} times 256 streams through each`);
  await ask("/pace?ms=0");
  for (const way of ways) {
    for (let n = 0; n < warmUpRounds; n++) await loadStreams({ ...way, port: way.served.port, streams: 256 });
  }
  for (const streams of counts) await paced(streams);
  for (const streams of counts) await saturated(streams);
  for (const streams of counts) await leaving(streams);
} finally {
  await Promise.all([upstream.stop(), pipe.stop(), portkey?.stop(), gantry.stop()]);
}
