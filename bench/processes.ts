/**
 * The same load on servers with different numbers of processes (`GANTRY_PROCESSES`), in turn, in one run.
 *
 *     npm run bench -- processes [counts …] [--write]        default 1 and 2; ROUND_SECONDS=5 ROUNDS=3
 *
 * Compares CPU a request, of all server processes, the supervisor and PostgreSQL, with that of one process. On a machine
 * with enough processors the rate shows the gain. The load client and the upstream need two processors of their own.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { countCpu } from "./support/cpu.ts";
import { adminKey, type ServedGantry, serveGantry } from "./support/gantry.ts";
import { formRequest, load } from "./support/load.ts";
import { median } from "./support/median.ts";
import { serve } from "./support/processes.ts";
import { loadStreams } from "./support/stream-load.ts";
import { verdict } from "./support/verdict.ts";
import { showFigures } from "./support/write-figures.ts";

const given = process.argv.slice(2).map(Number).filter(Boolean);
const counts = given.length > 0 ? given : [1, 2];
const seconds = Number(process.env.ROUND_SECONDS ?? 5);
const rounds = Number(process.env.ROUNDS ?? 3);
const tokens = 100;
const warmRequests = 3_000;
const budget = 1.15;

const instant = await serve(new URL("./support/instant-upstream.ts", import.meta.url));
const chat = await serve(new URL("./support/token-upstream.ts", import.meta.url), { TOKENS: String(tokens) });
await fetch(`http://127.0.0.1:${chat.port}/pace?ms=10`);

const text = { type: "string" };
const shared = { description: "For benchmarks.", visibility: "public", capacity: 1000 };
const fields = { prompt: "a lighthouse in the fog", style: "ink", mood: "calm", size: "2k" };

async function start(processes: number): Promise<ServedGantry> {
  const gantry = await serveGantry({ GANTRY_PROCESSES: String(processes), GANTRY_METRICS_OPEN: "1" });
  const serving = `gantry_processes{state="serving"} ${processes}\n`;
  const metrics = async () => (await fetch(`http://127.0.0.1:${gantry.port}/metrics`)).text();
  while (!(await metrics()).includes(serving)) await sleep(500);
  await gantry.putModel("instant", {
    ...shared,
    title: "Instant",
    kind: "other",
    pricing: { per_request: 0.000001 },
    input: { type: "object", required: ["prompt"], properties: { prompt: text, style: text, mood: text, size: text } },
    output: { type: "object", required: ["output"], properties: { output: text } },
    backend: { type: "cog", url: `http://127.0.0.1:${instant.port}` },
  });
  await gantry.putModel("tokens", {
    ...shared,
    title: "Tokens",
    kind: "text",
    model_size_in_billions: 7,
    pricing: { per_million_input_tokens: 1, per_million_output_tokens: 1 },
    input: { type: "object", required: ["prompt"], properties: { prompt: text, max_tokens: { type: "integer" } } },
    output: { type: "object", required: ["output"], properties: { output: { ...text, isStream: true } } },
    backend: { type: "openai-chat", url: `http://127.0.0.1:${chat.port}/v1`, model: "mock-1" },
  });
  return gantry;
}

interface Figures {
  /** µs of CPU a request. */
  cpu: number;
  perSecond: number;
  /** Items of predictions in one commit: smaller batches are more statements. */
  batch: number;
}

async function batchesOf({ port }: ServedGantry): Promise<{ items: number; batches: number }> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const sum = (kind: string) =>
    [...metrics.matchAll(new RegExp(`^gantry_batch_items_${kind}\\{.*\\} (\\d+)$`, "gm"))].reduce(
      (all, [, n]) => all + Number(n),
      0,
    );
  return { items: sum("sum"), batches: sum("count") };
}

const key = { "X-API-KEY": adminKey };
const predict = formRequest("/api/v1/admin/instant/predict", fields, key);
const stream = formRequest("/api/v1/admin/tokens/predict/stream/", { prompt: "a lighthouse in the fog" }, key);

const streamShape = `stream of ${tokens} tokens, new connections`;

/** Each returns how many were answered in how many seconds. */
const shapes: Record<string, (port: number, connections: number) => Promise<{ requests: number; elapsed: number }>> = {
  "`/predict`, kept connections": async (port, connections) => {
    const result = await load({ port, request: predict, connections, seconds });
    if (result.failures > 0) throw new Error("the run had failures, so its figures are invalid");
    return { requests: result.requests, elapsed: result.requests / result.perSecond };
  },
  [streamShape]: async (port, streams) => {
    const startedAt = performance.now();
    for (let n = 0; n < 512; n += streams) await loadStreams({ port, request: stream, streams });
    return { requests: 512, elapsed: (performance.now() - startedAt) / 1000 };
  },
};

async function measure(gantry: ServedGantry, shape: string, connections: number): Promise<Figures> {
  const before = await batchesOf(gantry);
  const cpu = countCpu(gantry.pid);
  const { requests, elapsed } = (await shapes[shape]?.(gantry.port, connections)) ?? { requests: 0, elapsed: 0 };
  const { own, below } = cpu();
  const after = await batchesOf(gantry);
  const batch = (after.items - before.items) / (after.batches - before.batches);
  return { cpu: ((own + below) / requests) * 1e6, perSecond: requests / elapsed, batch };
}

/** Code that is not compiled yet is a large part of the first requests of each process. */
async function warmUp(gantry: ServedGantry, processes: number): Promise<void> {
  const predictions = warmRequests * processes;
  for (let done = 0; done < predictions; ) {
    done += (await load({ port: gantry.port, request: predict, connections: 64, seconds: 1 })).requests;
  }
  await measure(gantry, streamShape, 64);
}

const servers = new Map<number, ServedGantry>();
try {
  for (const count of counts) {
    const gantry = await start(count);
    servers.set(count, gantry);
    await warmUp(gantry, count);
  }
  const lines: string[] = [];
  for (const shape of Object.keys(shapes)) {
    for (const connections of [64, 256]) {
      const figures = new Map<number, Figures[]>(counts.map((count) => [count, []]));
      for (let round = 0; round < rounds; round++) {
        for (const [count, gantry] of servers) {
          const figure = await measure(gantry, shape, connections);
          console.log(
            `${shape} ${connections}: ${count} processes, ${figure.cpu.toFixed(0)} µs, ` +
              `${figure.perSecond.toFixed(0)} /s, ${figure.batch.toFixed(1)} in a commit`,
          );
          figures.get(count)?.push(figure);
        }
      }
      const first = figures.get(counts[0] ?? 1) ?? [];
      for (const [count, all] of figures) {
        const ratio = median(all.map(({ cpu }, n) => cpu / (first[n]?.cpu ?? cpu)));
        const shown = (["perSecond", "batch", "cpu"] as const).map((name) =>
          median(all.map((one) => one[name])).toFixed(0),
        );
        lines.push(`| ${shape} | ${connections} | ${count} | ${shown.join(" | ")} | ${ratio.toFixed(2)} |`);
        if (count !== counts[0]) verdict(`${shape}, ${connections}, ${count} processes: CPU`, ratio, "at most", budget);
      }
    }
  }
  const head =
    "| load | connections | processes | requests a second | in a commit | CPU a request, µs | of the first |";
  showFigures("operate/processes.md", "processes", [head, "|---|---|---|---|---|---|---|", ...lines].join("\n"));
} finally {
  await Promise.all([instant.stop(), chat.stop(), ...[...servers.values()].map((gantry) => gantry.stop())]);
}
