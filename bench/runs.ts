/**
 * An agent run with five tool calls on a streaming mock model, compared with the same loop of the AI SDK, LangGraph and
 * Mastra: CPU per run, runs per second of one process, and the time from the model's last token to the end of the run.
 * Gantry's figures include admission and charge of six model calls, steps and events on disk, and PostgreSQL. The peers
 * store nothing. The bare loop only makes the same calls and reads their streams, which shows what is left to gain.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { countCpu } from "./support/cpu.ts";
import { adminKey, serveGantry } from "./support/gantry.ts";
import { median } from "./support/median.ts";
import { installPeers } from "./support/peers.ts";
import { serve } from "./support/processes.ts";
import { verdict } from "./support/verdict.ts";

const runs = Number(process.argv[2] ?? 300);
const parallel = Number(process.argv[3] ?? 32);
const rounds = 3;
const peers = { "AI SDK": "ai-sdk-loop", LangGraph: "langgraph-loop", Mastra: "mastra-loop" };
const loopRuns = 60;
const loopParallel = 8;

const upstream = await serve(new URL("./support/agent-upstream.ts", import.meta.url));
const gantry = await serveGantry();
const base = `http://127.0.0.1:${gantry.port}/v1`;
const headers = { "x-api-key": adminKey, "content-type": "application/json" };

async function call(method: string, path: string, body?: unknown) {
  const response = await fetch(base + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json() as Promise<Record<string, unknown>>;
}

const text = { type: "string" };
await gantry.putModel("mock", {
  title: "Mock",
  kind: "text",
  visibility: "public",
  capacity: 1000,
  pricing: { per_million_input_tokens: 0.1, per_million_output_tokens: 0.4 },
  input: { type: "object", properties: { prompt: text }, required: ["prompt"] },
  output: { type: "object", properties: { output: { ...text, isStream: true } } },
  backend: { type: "openai-chat", url: `http://127.0.0.1:${upstream.port}/v1`, model: "mock" },
});
const agent = await call("POST", "/agents", {
  name: "Weather",
  goal: "Find out the weather of five places and sum it up.",
  tools: ["http_request"],
  model: "admin/mock",
});
await call("POST", `/agents/${agent.id}/publish`, {});

/** Waits for the end of each run. */
async function runMany(count: number): Promise<void> {
  let left = count;
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      while (left-- > 0) {
        const run = await call("POST", `/agents/${agent.id}/runs`, { input: {}, wait: 60 });
        if (run.status !== "done") throw new Error(JSON.stringify(run));
      }
    }),
  );
}

await runMany(50);
const figures: { own: number; below: number; perSecond: number }[] = [];
for (let round = 0; round < rounds; round++) {
  const used = countCpu(gantry.pid);
  const startedAt = performance.now();
  await runMany(runs);
  const seconds = (performance.now() - startedAt) / 1000;
  const { own, below } = used();
  figures.push({ own: (own * 1000) / runs, below: (below * 1000) / runs, perSecond: runs / seconds });
}
for (const { own, below, perSecond } of figures) {
  console.log(
    `gantry     ${perSecond.toFixed(0).padStart(5)} runs/s  CPU ms a run: server ${own.toFixed(2)}, PostgreSQL ${below.toFixed(2)}`,
  );
}
const cost = median(figures.map(({ own, below }) => own + below));

const last = await call("GET", "/runs?limit=1");
const [newest] = last.runs as { id: string; completed_at: string }[];
const { events } = await call("GET", `/runs/${newest?.id}/events/list`);
console.log(`events of a run: ${(events as { type: string }[]).map(({ type }) => type).join(" ")}`);

/** CPU milliseconds per run of a loop in a child process. */
function costOfLoop(name: string, script: string): number {
  const costs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const file = fileURLToPath(new URL(`./support/${script}.ts`, import.meta.url));
    const args = [file, `http://127.0.0.1:${upstream.port}/v1`, String(loopRuns), String(loopParallel)];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
    if (status !== 0) throw new Error(`${name}: ${stderr}`);
    const { cpuMs, perSecond } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Record<string, number>;
    costs.push(cpuMs ?? 0);
    console.log(`${name.padEnd(10)} ${perSecond?.toFixed(0).padStart(5)} runs/s  CPU ms a run: ${cpuMs?.toFixed(2)}`);
  }
  return median(costs);
}

const bare = costOfLoop("bare loop", "bare-loop");
verdict("CPU a run of Gantry with PostgreSQL against the bare loop", cost / bare, "at most", 2, " times");
if (installPeers()) {
  for (const [name, script] of Object.entries(peers)) {
    const ofPeer = costOfLoop(name, script);
    console.log(`  ${name} against the bare loop: ${(ofPeer / bare).toFixed(2)} times`);
    verdict(`CPU a run of ${name} against Gantry's with PostgreSQL`, ofPeer / cost, "at least", 15, " times");
  }
}
await gantry.stop();
await upstream.stop();
