/**
 * Streamed answers through the protocols of OpenAI and Anthropic, 200 tokens per stream: Chat Completions, Messages and
 * Responses against `/predict/stream/` of the same model and upstream, in one process, and @portkey-ai/gateway.
 *
 *     node bench/doors.ts [streams]        default 256; ROUNDS=5
 *
 * Measures the CPU per token at full speed. A native relay passes the upstream's events on; otherwise the answer is
 * translated.
 */
import { countCpu } from "./support/cpu.ts";
import { adminKey, serveGantry } from "./support/gantry.ts";
import { formRequest, jsonRequest } from "./support/load.ts";
import { median } from "./support/median.ts";
import { installPeers } from "./support/peers.ts";
import { type Served, serve } from "./support/processes.ts";
import { loadStreams } from "./support/stream-load.ts";
import { verdict } from "./support/verdict.ts";

const tokens = 200;
const streams = Number(process.argv[2] ?? 256);
const rounds = Number(process.env.ROUNDS ?? 5);
const warmUpLoads = 6;
/** CPU time is counted in hundredths of a second, so that one load is too short to compare. */
const loadsPerRound = 3;
const nativeBound = 1.05;
const translatedBound = 1.15;

const script = new URL("./support/token-upstream.ts", import.meta.url);
const upstreams = {
  openai: await serve(script, { TOKENS: String(tokens) }),
  anthropic: await serve(script, { TOKENS: String(tokens), PROTOCOL: "anthropic" }),
};
const portkey = installPeers()
  ? await serve(new URL("./support/portkey.ts", import.meta.url), { NODE_ENV: "production" })
  : undefined;
const gantry = await serveGantry();

interface Way {
  name: string;
  served: Served;
  request: Buffer;
  /** The way that it is compared with, and the most CPU relative to that. */
  against?: { name: string; bound?: number };
}

const prompt = "a lighthouse in the fog";
const messages = [{ role: "user", content: prompt }];
const key = { Authorization: `Bearer ${adminKey}` };
const predict = (model: string): Way => ({
  name: `/predict/stream of ${model}`,
  served: gantry,
  request: formRequest(`/api/v1/admin/${model}/predict/stream/`, { prompt }, { "X-API-KEY": adminKey }),
});
const door = (path: string, model: string, form: string, body: object, bound?: number): Way => ({
  name: `${path} of ${model}, ${form}`,
  served: gantry,
  request: jsonRequest(path, { model: `admin/${model}`, stream: true, ...body }, key),
  against: { name: predict(model).name, ...(bound !== undefined && { bound }) },
});
const message = { messages, max_tokens: 1000 };

const ways: Way[] = [
  predict("openai"),
  door("/v1/chat/completions", "openai", "native", { messages }, nativeBound),
  door("/v1/messages", "openai", "translated", message, translatedBound),
  door("/v1/responses", "openai", "translated", { input: prompt }),
  predict("anthropic"),
  door("/v1/messages", "anthropic", "native", message, nativeBound),
  door("/v1/chat/completions", "anthropic", "translated", { messages }, translatedBound),
];
if (portkey) {
  const to = { "x-portkey-provider": "openai", "x-portkey-custom-host": addressOf(upstreams.openai) };
  const body = { model: "mock-1", messages, stream: true };
  const request = jsonRequest("/v1/chat/completions", body, { Authorization: "Bearer bench", ...to });
  ways.push({ name: "Portkey", served: portkey, request, against: { name: predict("openai").name } });
}

function addressOf({ port }: Served): string {
  return `http://127.0.0.1:${port}/v1`;
}

/** µs of CPU per token. */
async function measure({ name, served, request }: Way): Promise<number> {
  const cpu = countCpu(served.pid);
  let seen = 0;
  for (let n = 0; n < loadsPerRound; n++) seen += (await loadStreams({ port: served.port, request, streams })).tokens;
  const wanted = loadsPerRound * streams * tokens;
  // The last events of Responses repeat the whole text.
  if (seen === 0 || seen % wanted !== 0) throw new Error(`${name} brought ${seen} of ${wanted} tokens`);
  return (cpu().own / wanted) * 1e6;
}

async function compare(): Promise<void> {
  const found = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++) {
    for (const way of ways) found.set(way.name, [...(found.get(way.name) ?? []), await measure(way)]);
  }
  const of = (name: string) => found.get(name) ?? [];
  for (const { name, against } of ways) {
    const figure = `${median(of(name)).toFixed(2)} µs a token`;
    if (!against) {
      console.log(`  ${name}: ${figure}`);
      continue;
    }
    // The machine's speed changes between rounds, so each round has its own ratio.
    const ratio = median(of(name).map((cpu, round) => cpu / (of(against.name)[round] ?? Number.NaN)));
    console.log(`  ${name}: ${figure}, ${ratio.toFixed(2)} of ${against.name}`);
    if (against.bound !== undefined) verdict(`CPU a token, ${name}`, ratio, "at most", against.bound);
  }
}

try {
  const text = { type: "string" };
  for (const [name, upstream] of Object.entries(upstreams)) {
    await fetch(`http://127.0.0.1:${upstream.port}/pace?ms=0`);
    await gantry.putModel(name, {
      title: "Tokens",
      description: "Streams two hundred tokens.",
      kind: "text",
      visibility: "public",
      capacity: 2000,
      model_size_in_billions: 7,
      pricing: { per_million_input_tokens: 1, per_million_output_tokens: 1 },
      input: { type: "object", required: ["prompt"], properties: { prompt: text, max_tokens: { type: "integer" } } },
      output: { type: "object", required: ["output"], properties: { output: { ...text, isStream: true } } },
      backend: { type: name === "openai" ? "openai-chat" : name, url: addressOf(upstream), model: "mock-1" },
    });
  }
  // Before the warm-up, compilation is a large part of the cost.
  console.log(`warming up: ${warmUpLoads} times ${streams} streams through each`);
  for (const { served, request } of ways) {
    for (let n = 0; n < warmUpLoads; n++) await loadStreams({ port: served.port, request, streams });
  }
  console.log(`${streams} streams as fast as possible, ${rounds} rounds of ${loadsPerRound} times ${streams} streams`);
  await compare();
} finally {
  await Promise.all([...Object.values(upstreams).map((one) => one.stop()), portkey?.stop(), gantry.stop()]);
}
