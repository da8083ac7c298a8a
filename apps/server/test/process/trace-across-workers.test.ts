import { afterAll, beforeAll, expect, test } from "vitest";
import { type Collector, startCollector } from "../../src/engines/telemetry/collector.fixture.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { type ScriptedLlm, startScriptedLlm, toolResults } from "../support/scripted-llm.ts";
import { waitFor } from "../support/wait-for.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

let collector: Collector;
let llm: ScriptedLlm;
let front: GantryNode;
const workers: ServerProcess[] = [];

beforeAll(async () => {
  [collector, llm] = await Promise.all([startCollector(), startScriptedLlm()]);
  front = await startGantry({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, GANTRY_ROLE: "api" } });
});
afterAll(async () => {
  for (const worker of workers) {
    worker.kill("SIGKILL");
    await worker.exit;
  }
  await front.close();
  await Promise.all([collector.close(), llm.close()]);
});

async function addWorker(): Promise<ServerProcess> {
  const worker = startServer({
    DATABASE_URL: front.databaseUrl,
    GANTRY_HOME: front.home,
    GANTRY_ADMIN_KEY: front.adminKey,
    GANTRY_ALLOW_PRIVATE_NETWORK: "1",
    GANTRY_ROLE: "worker",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  });
  workers.push(worker);
  await worker.url();
  return worker;
}

async function publishAgent(): Promise<string> {
  const model = await front.call("PUT", "/api/v1/admin/llm", {
    json: {
      ...{ title: "A language model", kind: "text", visibility: "public", capacity: 20, pricing: {} },
      input: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
      output: { type: "object", properties: { output: { type: "string", isStream: true } } },
      backend: { type: "openai-chat", url: llm.url, model: "scripted" },
    },
  });
  expect(model.status, model.text).toBe(201);
  const agent = await front.call("POST", "/v1/agents", {
    json: { name: "Calculator", goal: "Do it.", tools: ["run_javascript"], model: "admin/llm" },
  });
  expect(agent.status, agent.text).toBe(201);
  expect((await front.call("POST", `/v1/agents/${agent.body.id}/publish`, { json: {} })).status).toBe(200);
  return agent.body.id;
}

test("the trace of a run continues on another worker when the first is killed", async () => {
  const agent = await publishAgent();
  const first = await addWorker();
  llm.script = (asked, n) => {
    if (toolResults(asked).length === 0) return { calls: [{ name: "run_javascript", args: { code: "6 * 7" } }] };
    return n === 2 ? new Promise(() => {}) : { text: "done" };
  };
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  const created = await front.call("POST", `/v1/agents/${agent}/runs`, { json: { input: {} }, headers });
  expect(created.status, created.text).toBe(201);
  const named = (name: string) => collector.spans.filter((span) => span.traceId === traceId && span.name === name);
  const calls = () => named("chat scripted");
  await waitFor("the span of the first call", () => llm.requests.length === 2 && calls().length === 1);

  first.kill("SIGKILL");
  await first.exit;
  await addWorker();

  const done = await front.call("GET", `/v1/runs/${created.body.id}?wait=60`);
  expect(done.body, done.text).toMatchObject({ status: "done" });
  const request = () => named("POST /v1/agents/:agent_id/runs")[0];
  await waitFor("all spans", () => calls().length === 2 && named("run").length === 1 && request() !== undefined);
  const [run] = named("run");
  expect(run?.parentSpanId).toBe(request()?.spanId);
  expect(run?.attributes).toMatchObject({ "gantry.run_id": created.body.id, "gantry.run_came_to": "done" });
  expect(run?.attributes["gantry.run_claim"]).toBeGreaterThan(1);
  const nodes = calls().map(({ resource }) => resource["service.instance.id"]);
  expect(new Set(nodes).size).toBe(2);
  expect(run?.resource["service.instance.id"]).toBe(nodes[1]);
}, 120_000);
