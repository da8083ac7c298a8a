/**
 * How soon the server reacts to a second start, a disconnected client, an approval, a hostile form and a flood of messages
 * from a tool server, and whether painting and counting leave the event loop free.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { createImagePainter } from "../apps/server/src/engines/models/builtin/painter.ts";
import { countTokens, estimateTokens } from "../apps/server/src/engines/models/token-count.ts";
import { createPictures } from "../apps/server/src/engines/pictures/create-pictures.ts";
import { scriptedServer } from "../apps/server/src/engines/tools/scripted-server.fixture.ts";
import { startScriptedLlm, toolResults } from "../apps/server/test/support/scripted-llm.ts";
import { startSlowCog } from "../apps/server/test/support/slow-cog.ts";
import { waitFor } from "../apps/server/test/support/wait-for.ts";
import { countCpu } from "./support/cpu.ts";
import { adminKey, serveGantry } from "./support/gantry.ts";
import { median } from "./support/median.ts";
import { serve } from "./support/processes.ts";
import { verdict } from "./support/verdict.ts";

const rounds = 15;
const { signal } = new AbortController();

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function medianOf(count: number, measure: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < count; n++) times.push(await measure());
  return median(times);
}

/** A chat server that sends one fragment and no end. */
async function startStallingChat() {
  const chat = { url: "", open: 0, close: () => {} };
  const chunk = { id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: "word" } }] };
  const server = createServer((request, response) => {
    chat.open++;
    response.once("close", () => chat.open--);
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  chat.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  chat.close = () => server.close();
  return chat;
}

async function measureStart(): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "gantry-bench-"));
  const start = async () => {
    const startedAt = performance.now();
    const server = await serve(new URL("../apps/server/src/main.ts", import.meta.url), {
      ...{ GANTRY_HOME: home, GANTRY_ADMIN_KEY: adminKey, GANTRY_LOG_LEVEL: "warn", PORT: "0" },
    });
    const isReady = async () => (await fetch(`http://127.0.0.1:${server.port}/readyz`)).ok;
    await waitFor("the server to be ready", isReady);
    const took = performance.now() - startedAt;
    await server.stop();
    return took;
  };
  try {
    await start();
    verdict("a second start until it is ready", (await medianOf(3, start)) / 1000, "at most", 2, " s");
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function measurePainting(): Promise<void> {
  const pictures = createPictures();
  const painter = createImagePainter(pictures);
  const paint = (size: string) =>
    painter.run({
      predictionId: "pred_1",
      input: { prompt: "a lighthouse", size },
      signal,
      onFragment: () => undefined,
    });
  await paint("1280x720");
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const took = await timed(() => paint("2k"));
  delay.disable();
  await painter.close();
  await pictures.close();
  verdict("a picture of 2048x2048", took / 1000, "at most", 2, " s");
  verdict("event loop delay while it is painted, p99", delay.percentile(99) / 1e6, "at most", 50, " ms");
  verdict("event loop delay while it is painted, longest", delay.max / 1e6, "at most", 200, " ms");
}

async function measureCounting(): Promise<void> {
  const words = Array.from({ length: 150_000 }, (_, n) => ((n * 7919) % 1_000_003).toString(36)).join(" ");
  const text = words + "plain prose of every day ".repeat(20_000) + words;
  const counting = await timed(() => countTokens(text));
  const estimating = await timed(() => estimateTokens(text));
  verdict("an estimate of 2 MB of text against its count", estimating / counting, "at most", 0.5);
}

await measurePainting();
await measureCounting();
await measureStart();

const cog = await startSlowCog();
const llm = await startScriptedLlm();
const toolServer = await scriptedServer();
const gantry = await serveGantry();
const base = `http://127.0.0.1:${gantry.port}`;

async function call(method: string, path: string, body?: object) {
  const headers = { "x-api-key": adminKey, ...(body && { "content-type": "application/json" }) };
  const response = await fetch(base + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
  return (await response.json()) as { id: string; status: string };
}

const form = (fields: Record<string, string>) => {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  return { method: "POST", headers: { "x-api-key": adminKey }, body };
};

async function publishAgent(name: string, fields: object): Promise<string> {
  const agent = await call("POST", "/v1/agents", { name, goal: "Do it.", tools: [], model: "admin/llm", ...fields });
  await call("POST", `/v1/agents/${agent.id}/publish`, {});
  return agent.id;
}

try {
  const text = { type: "string" };
  const common = { visibility: "public", capacity: 20, pricing: {} };
  await gantry.putModel("llm", {
    ...{ ...common, title: "Scripted", kind: "text" },
    input: { type: "object", properties: { prompt: text }, required: ["prompt"] },
    output: { type: "object", properties: { output: { ...text, isStream: true } } },
    backend: { type: "openai-chat", url: llm.url, model: "scripted" },
  });
  const items = { type: "string", enum: Array.from({ length: 500 }, (_, n) => `value-${n}`) };
  for (const [name, properties] of [
    ["slow", { prompt: text }],
    ["hostile", { many: { type: "array", items }, wrong: { type: "array", items: { type: "integer" } } }],
  ] as const) {
    await gantry.putModel(name, {
      ...{ ...common, title: "Slow", kind: "other" },
      input: { type: "object", properties },
      output: { type: "object", properties: { output: text } },
      backend: { type: "cog", url: cog.url },
    });
  }

  const leave = async () => {
    const leaving = new AbortController();
    const answer = fetch(`${base}/api/v1/admin/slow/predict`, { ...form({ prompt: "x" }), signal: leaving.signal });
    answer.catch(() => {});
    await waitFor("the upstream call", () => cog.open === 1);
    return timed(async () => {
      leaving.abort();
      while (cog.open > 0) await sleep(1);
    });
  };
  verdict(
    "from a client's leaving to the end of the upstream call, p50",
    await medianOf(rounds, leave),
    "at most",
    100,
    " ms",
  );

  const stalling = await startStallingChat();
  await gantry.putModel("stalling", {
    ...{ ...common, title: "Stalling", kind: "text" },
    input: { type: "object", properties: { prompt: text }, required: ["prompt"] },
    output: { type: "object", properties: { output: { ...text, isStream: true } } },
    backend: { type: "openai-chat", url: stalling.url, model: "stalling" },
  });
  const leaveChat = async () => {
    const leaving = new AbortController();
    const answer = await fetch(`${base}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "admin/stalling", stream: true, messages: [{ role: "user", content: "x" }] }),
      signal: leaving.signal,
    });
    await answer.body?.getReader().read();
    return timed(async () => {
      leaving.abort();
      while (stalling.open > 0) await sleep(1);
    });
  };
  verdict(
    "from an OpenAI client's leaving to the end of the upstream call, p50",
    await medianOf(rounds, leaveChat),
    "at most",
    100,
    " ms",
  );
  stalling.close();

  const many = JSON.stringify(Array(80_000).fill("value-499"));
  const wrong = JSON.stringify(Array(200_000).fill(""));
  const judge = () =>
    timed(async () => {
      const answer = await fetch(`${base}/api/v1/admin/hostile/predict`, form({ many, wrong }));
      if (answer.status !== 422) throw new Error(await answer.text());
      await answer.text();
    });
  verdict("280,000 values of a form judged, p50", await medianOf(5, judge), "at most", 1000, " ms");

  const asking = await publishAgent("Asks", { tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] });
  llm.script = (asked) =>
    toolResults(asked).length > 0 ? { text: "done" } : { calls: [{ name: "run_javascript", args: { code: "6 * 7" } }] };
  const approve = async () => {
    const run = await call("POST", `/v1/agents/${asking}/runs`, { input: {}, wait: 30 });
    const { confirmations } = (await call("GET", `/v1/runs/${run.id}/confirmations`)) as unknown as {
      confirmations: { id: string }[];
    };
    const before = llm.requests.length;
    return timed(async () => {
      await call("POST", `/v1/runs/${run.id}/confirmations/${confirmations[0]?.id}`, { approve: true });
      while (llm.requests.length === before) await sleep(1);
    });
  };
  verdict("from an approval to the next model call, p50", await medianOf(rounds, approve), "at most", 500, " ms");

  const server = await call("POST", "/v1/mcp-servers", {
    ...{ name: "flood", url: toolServer.url, connection_type: "streamable_http" },
  });
  const flooded = await publishAgent("Flooded", { mcp_servers: [{ id: server.id }] });
  toolServer.script = {
    "on tools/call": ({ response }) =>
      response.writeHead(200, { "content-type": "text/event-stream" }).end("data: {}\n\n".repeat(500_000)),
  };
  llm.script = (asked) =>
    toolResults(asked).length > 0
      ? { text: "done" }
      : {
          calls: [
            {
              name: asked.tools?.find(({ function: { name } }) => name.endsWith("echo"))?.function.name ?? "",
              args: {},
            },
          ],
        };
  const used = countCpu(gantry.pid);
  const done = await call("POST", `/v1/agents/${flooded}/runs`, { input: {}, wait: 60 });
  if (done.status !== "done") throw new Error(JSON.stringify(done));
  verdict("CPU of the server for 500,000 messages of a tool server", used().own, "at most", 4, " s");
} finally {
  await gantry.stop();
  await Promise.all([cog.close(), llm.close(), toolServer.close()]);
}
