import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  type CollectedSpan,
  type Collector,
  startCollector,
} from "../../../src/engines/telemetry/collector.fixture.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { agentModel, createModels } from "../../support/models.ts";
import { inTurn, type ScriptedLlm, startScriptedLlm, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

let collector: Collector;
let llm: ScriptedLlm;
let gantry: GantryNode;
const seen: string[] = [];
/** The target of a tool. */
const receiver = createServer((request, response) => {
  seen.push(String(request.headers.traceparent));
  response.end("heard");
});

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  [collector, llm] = await Promise.all([startCollector(), startScriptedLlm()]);
  gantry = await startGantry({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, GANTRY_RUN_PARALLEL: "1", GANTRY_METRICS_OPEN: "1" },
  });
  await createModels(gantry, { llm: agentModel(llm.url, { pricing: {} }) });
});
afterAll(async () => {
  await gantry.close();
  await Promise.all([collector.close(), llm.close()]);
  receiver.closeAllConnections();
  receiver.close();
});
beforeEach(() => {
  llm.script = () => ({ text: "done" });
  llm.requests.length = 0;
  seen.length = 0;
});

let agents = 0;
async function makeAgent(fields: object = {}, node = gantry): Promise<string> {
  const json = { name: `Agent ${++agents}`, goal: "Do it.", tools: [], model: "admin/llm", ...fields };
  const made = await node.call("POST", "/v1/agents", { json });
  expect(made.status, made.text).toBe(201);
  expect((await node.call("POST", `/v1/agents/${made.body.id}/publish`, { json: {} })).status).toBe(200);
  return made.body.id;
}

/** Starts a run in a new trace. */
async function start(agentId: string, { body = {}, node = gantry } = {}) {
  const traceId = `${Date.now().toString(16).padStart(16, "0")}${(++traces).toString(16).padStart(16, "0")}`;
  const json = { input: {}, ...body };
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  const made = await node.call("POST", `/v1/agents/${agentId}/runs`, { json, headers });
  expect(made.status, made.text).toBe(201);
  return { id: made.body.id as string, traceId, run: made.body };
}
let traces = 0;

const spansOf = (traceId: string) => collector.spans.filter((span) => span.traceId === traceId);
const isOf = (span: CollectedSpan, runId: string) => span.attributes["gantry.run_id"] === runId;
const request = "POST /v1/agents/:agent_id/runs";

/** The spans of a trace once its request and `count` claims of runs have ended. */
async function traceOf(traceId: string, count: number): Promise<CollectedSpan[]> {
  await waitFor(`${count} spans of runs`, () => {
    const names = spansOf(traceId).map(({ name }) => name);
    return names.filter((name) => name === "run").length >= count && names.includes(request);
  });
  return spansOf(traceId);
}

/** The names of a span's ancestors, nearest first. */
function above(span: CollectedSpan | undefined, all: CollectedSpan[]): string[] {
  const parent = all.find(({ spanId }) => spanId === span?.parentSpanId);
  return parent ? [parent.name, ...above(parent, all)] : [];
}

async function scrape(): Promise<(name: string) => number> {
  const { text } = await gantry.call("GET", "/metrics");
  return (name) => {
    const line = text.split("\n").find((one) => one.startsWith(`${name} `));
    return line === undefined ? 0 : Number(line.slice(name.length + 1));
  };
}

/** Number of runs that wait for a confirmation, and for other runs. */
async function resting(): Promise<number[]> {
  const figure = await scrape();
  return ["asking", "delegating"].map((state) => figure(`gantry_queue_runs{state="${state}"}`));
}

describe("the trace of a run", () => {
  test("continues its request's trace, with its model calls and its tools' calls", async () => {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    llm.script = inTurn({ calls: [{ name: "http_request", args: { method: "GET", url } }] }, { text: "done" });
    const agent = await makeAgent({ tools: ["http_request"], goal: "Words that stay inside." });
    const { id, traceId, run } = await start(agent, { body: { wait: 20 } });
    expect(run).toMatchObject({ status: "done" });
    const spans = await traceOf(traceId, 1);
    const own = spans.filter((span) => isOf(span, id));
    const names = ["chat test", "chat test", "execute_tool http_request", "queue", "run"];
    expect(own.map(({ name }) => name).sort()).toEqual(names);
    for (const name of ["queue", "run"]) {
      const span = own.find((one) => one.name === name);
      expect(above(span, spans), name).toEqual([request]);
    }
    expect(own.find(({ name }) => name === "run")?.attributes).toMatchObject({
      "gantry.run_claim": 1,
      "gantry.run_came_to": "done",
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.id": agent,
    });
    const calls = spans.filter(({ name }) => name === "chat test");
    expect(calls).toHaveLength(2);
    for (const call of calls) expect(above(call, spans)).toEqual(["execution", "run", request]);
    const outgoing = spans.find(({ name }) => name === "GET");
    expect(above(outgoing, spans)).toEqual(["execute_tool http_request", "run", request]);
    expect(spans.find(({ name }) => name === "execute_tool http_request")?.attributes).toEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "http_request",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": `${id}-1-0`,
      "gantry.run_id": id,
    });
    expect(seen).toEqual([`00-${traceId}-${outgoing?.spanId}-01`]);
    expect(collector.bodies.join()).not.toContain("Words that stay inside");
  });

  test("contains the runs of sub-agents below their parent", async () => {
    const child = await makeAgent({ goal: "Child." });
    const parent = await makeAgent({ goal: "Parent.", tools: [{ type: "agent", agent_id: child, name: "child" }] });
    let meanwhile: number[] = [];
    llm.script = async (asked) => {
      if (asked.messages[1]?.content?.startsWith("Child.")) {
        meanwhile = await resting();
        return { text: "seven" };
      }
      return toolResults(asked).length > 0 ? { text: "done" } : { calls: [{ name: "child", args: {} }] };
    };
    const { id, traceId, run } = await start(parent, { body: { wait: 20 } });
    expect(run).toMatchObject({ status: "done" });
    expect(meanwhile).toEqual([0, 1]);
    const spans = await traceOf(traceId, 3);
    const runs = spans.filter(({ name }) => name === "run");
    // The parent is released while its child works, and claimed again.
    const ofParent = runs.filter((span) => isOf(span, id));
    expect(ofParent.map(({ attributes }) => attributes["gantry.run_came_to"])).toEqual(["left", "done"]);
    for (const span of ofParent) expect(above(span, spans)).toEqual([request]);
    const [ofChild] = runs.filter((span) => !isOf(span, id));
    expect(ofChild?.parentSpanId).toBe(ofParent[0]?.spanId);
    expect(above(ofChild, spans)).toEqual(["run", request]);
    const calls = spans.filter(({ name }) => name === "chat test");
    expect(calls.map((call) => above(call, spans).length).sort()).toEqual([3, 3, 4]);
  });

  test("continues after a confirmation, and records the failure", async () => {
    const agent = await makeAgent({ tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] });
    llm.script = inTurn({ calls: [{ name: "run_javascript", args: { code: "1" } }] }, { status: 400 });
    expect(await resting()).toEqual([0, 0]);
    const { id, traceId } = await start(agent);
    let confirmation = "";
    await waitFor("the question", async () => {
      const { confirmations } = (await gantry.call("GET", `/v1/runs/${id}/confirmations`)).body;
      confirmation = confirmations[0]?.id ?? "";
      return confirmation !== "";
    });
    await waitFor("the run to rest", async () => (await resting())[0] === 1);
    await gantry.call("POST", `/v1/runs/${id}/confirmations/${confirmation}`, { json: { approve: true } });
    const all = await traceOf(traceId, 2);
    const spans = all.filter(({ name }) => name === "run");
    const [tool] = all.filter(({ name }) => name === "execute_tool run_javascript");
    expect(tool?.parentSpanId).toBe(spans[1]?.spanId);
    expect(spans.map(({ attributes }) => attributes["gantry.run_came_to"])).toEqual(["left", "error"]);
    expect(spans[1]).toMatchObject({ status: { code: 2 }, attributes: { "error.type": "internal" } });
  });
});

describe("the figures of runs", () => {
  const outcome = (name: string, type = "") => `gantry_runs_ended_total{outcome="${name}",type="${type}"}`;

  test("count waiting, working and claimed runs, and the longest wait", async () => {
    let answer = () => {};
    llm.script = (_asked, n) =>
      n > 1 ? { text: "done" } : new Promise((resolve) => (answer = () => resolve({ text: "done" })));
    const idle = await scrape();
    const names = ["waiting", "running"].map((state) => `gantry_queue_runs{state="${state}"}`);
    const all = [...names, "gantry_runs_held", "gantry_runs_oldest_wait_seconds"];
    expect(all.map(idle)).toEqual([0, 0, 0, 0]);
    expect(idle("gantry_run_slots")).toBe(1);
    const agent = await makeAgent();
    await start(agent);
    await waitFor("the model to be called", () => llm.requests.length === 1);
    const [second, third] = [await start(agent), await start(agent)];
    await sleep(500);
    const busy = await scrape();
    expect(all.slice(0, 3).map(busy)).toEqual([2, 1, 1]);
    expect(busy("gantry_runs_oldest_wait_seconds")).toBeGreaterThan(0.4);
    expect(busy("gantry_runs_oldest_wait_seconds")).toBeLessThan(15);
    answer();
    for (const { id } of [second, third]) await gantry.call("GET", `/v1/runs/${id}?wait=20`);
    // A run's end is visible shortly before its worker releases it.
    await waitFor("all to be let go", async () => all.map(await scrape()).every((figure) => figure === 0));
    const after = await scrape();
    expect(after(outcome("done")) - idle(outcome("done"))).toBe(3);
  });

  test("count failures by type and cancelled runs, also before their first claim", async () => {
    const before = await scrape();
    const agent = await makeAgent();
    llm.script = () => ({ status: 400 });
    await start(agent, { body: { wait: 20 } });
    llm.script = () => new Promise(() => {});
    llm.requests.length = 0;
    const running = await start(agent);
    await waitFor("the model to be called", () => llm.requests.length === 1);
    const waiting = await start(agent);
    for (const { id } of [waiting, running]) {
      expect((await gantry.call("POST", `/v1/runs/${id}/cancel`)).body).toMatchObject({ status: "error" });
    }
    const after = await scrape();
    const grown = (name: string) => after(name) - before(name);
    expect(grown(outcome("failed", "internal"))).toBe(1);
    expect(grown(outcome("cancelled"))).toBe(2);
    expect(grown(outcome("done"))).toBe(0);
  });
});
