import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { type LlmRequest, type ScriptedLlm, startScriptedLlm } from "../support/scripted-llm.ts";
import { waitFor } from "../support/wait-for.ts";

/** An API node that executes no runs; workers come and go. */
let door: GantryNode;
let llm: ScriptedLlm;
let workers: GantryNode[] = [];

beforeAll(async () => {
  [door, llm] = await Promise.all([startGantry({ env: { GANTRY_ROLE: "api" } }), startScriptedLlm()]);
  await putModel("llm", { pricing: { per_million_input_tokens: 10 } });
  await putModel("slow", { pricing: { per_second: 0.01 }, timeout_seconds: 10 });
  await putModel("cheap", { pricing: { per_request: 0.05 } });
  await putModel("dear", { pricing: { per_request: 0.96 } });
}, 60_000);
afterAll(async () => {
  await door.close();
  await llm.close();
}, 60_000);
beforeEach(() => {
  llm.requests.length = 0;
  workers = [];
});
afterEach(async () => {
  for (const worker of workers) await worker.close();
  const live = () => door.database.sql`select 1 from live_predictions`;
  await waitFor("all calls to end", async () => (await live()).length === 0, 30_000);
  expect(await verifyLedger(door.database)).toEqual([]);
}, 60_000);

async function putModel(name: string, manifest: object): Promise<void> {
  const text = { type: "string" };
  const json = {
    title: name,
    kind: "text",
    visibility: "public",
    capacity: 10,
    input: { type: "object", properties: { prompt: text }, required: ["prompt"] },
    output: { type: "object", properties: { output: { ...text, isStream: true } } },
    backend: { type: "openai-chat", url: llm.url, model: name },
    ...manifest,
  };
  const put = await door.call("PUT", `/api/v1/admin/${name}`, { json });
  expect(put.status, put.text).toBe(201);
}

async function startWorker(): Promise<GantryNode> {
  const worker = await startGantry({ beside: door });
  workers.push(worker);
  return worker;
}

let users = 0;
/** A run of an agent that can run models, for its own user. */
async function startRun(body: object = {}): Promise<{ id: string; key: string }> {
  const key = await door.newUser(`payer-${++users}`);
  const json = { name: "Caller of models", goal: "Do it.", tools: ["run_model"], model: "admin/llm" };
  const agent = await door.call("POST", "/v1/agents", { json, key });
  expect(agent.status, agent.text).toBe(201);
  expect((await door.call("POST", `/v1/agents/${agent.body.id}/publish`, { json: {}, key })).status).toBe(200);
  const run = await door.call("POST", `/v1/agents/${agent.body.id}/runs`, { json: { input: {}, ...body }, key });
  expect(run.status, run.text).toBe(201);
  return { id: run.body.id, key };
}

const read = async ({ id, key }: { id: string; key: string }) =>
  (await door.call("GET", `/v1/runs/${id}`, { key })).body;

async function ended(run: { id: string; key: string }) {
  await waitFor("the run to end", async () => (await read(run)).phase === "ended", 20_000);
  return read(run);
}

/** The user's charges by model, in the order of completion. */
async function paid(key: string): Promise<{ model: string; status: number; price: number }[]> {
  const { results } = (await door.call("GET", "/api/v2/usage", { key })).body;
  const rows = results as { model_name: string; status: number; price: number }[];
  return rows.reverse().map(({ model_name: model, status, price }) => ({ model, status, price }));
}

const balanceOf = async (key: string): Promise<number> => (await door.call("GET", "/api/v2/me", { key })).body.balance;
const sum = (rows: readonly { price: number }[]) => rows.reduce((total, { price }) => total + price, 0);
const asked = (model: string) => llm.requests.filter((request) => request.model === model).length;
const runModel = (name: string) => ({ name: "run_model", args: { model: `admin/${name}`, input: { prompt: "x" } } });

/** The agent runs these models in one step and is done when they have answered. */
const running =
  (...models: string[]) =>
  ({ messages }: LlmRequest) =>
    messages.some(({ role }) => role === "tool") ? { text: "done" } : { calls: models.map(runModel) };

describe("a model that a tool runs", () => {
  test("is run again by the next worker when its own stops, and charged once", async () => {
    const agent = running("slow");
    llm.script = (request) => {
      if (request.model === "llm") return agent(request);
      return asked(request.model) === 1 ? { text: "A part of", hangs: true } : { text: "The whole." };
    };
    const first = await startWorker();
    // Draining stops runs before any other call while queued predictions are released.
    const queued = await door.call("POST", "/api/v1/admin/cheap/predict/async/", { form: { prompt: "x" } });
    expect(queued.status, queued.text).toBe(200);
    const run = await startRun();
    await waitFor("both models to be run", () => asked("slow") === 1 && asked("cheap") === 1);
    // As SIGTERM does, with a shorter limit.
    await first.gantry.drain(1_000);
    expect(await read(run)).toMatchObject({ status: "running" });
    await startWorker();
    const { status, output, cost } = await ended(run);
    expect({ status, output }).toEqual({ status: "done", output: { text: "done" } });
    expect(asked("slow")).toBe(2);
    const rows = await paid(run.key);
    expect(rows.filter(({ model }) => model === "admin/slow")).toEqual([
      { model: "admin/slow", status: 499, price: 0 },
      { model: "admin/slow", status: 200, price: expect.any(Number) },
    ]);
    expect(sum(rows)).toBeCloseTo(cost, 9);
    expect(await balanceOf(run.key)).toBeCloseTo(10 - cost, 9);
  }, 60_000);

  test("is run again and charged once when another worker took the run over", async () => {
    const agent = running("slow");
    llm.script = (request) => {
      if (request.model === "llm") return agent(request);
      return asked("slow") === 1 ? { text: "A part of", hangs: true } : { text: "The whole." };
    };
    await startWorker();
    const run = await startRun();
    await waitFor("the model to be run", () => asked("slow") === 1);
    await sleep(500);
    // What other nodes do when its heartbeat stops.
    await door.database.sql`select release_runs(holder) from runs where id = ${run.id}`;
    const { status, cost } = await ended(run);
    expect(status).toBe("done");
    const rows = await paid(run.key);
    expect(rows.filter(({ model }) => model === "admin/slow")).toEqual([
      { model: "admin/slow", status: 499, price: 0 },
      { model: "admin/slow", status: 200, price: expect.any(Number) },
    ]);
    expect(sum(rows)).toBeCloseTo(cost, 9);
  }, 60_000);

  test("is charged for its use when the run is cancelled", async () => {
    const agent = running("slow");
    llm.script = (request) => (request.model === "llm" ? agent(request) : { text: "A part of", hangs: true });
    await startWorker();
    const run = await startRun();
    await waitFor("the model to be run", () => asked("slow") === 1);
    await sleep(500);
    expect((await door.call("POST", `/v1/runs/${run.id}/cancel`, { key: run.key })).status).toBe(200);
    expect(await ended(run)).toMatchObject({ status: "error", error: { type: "cancelled" } });
    await waitFor("the call to end", async () => (await paid(run.key)).length === 2);
    const slow = (await paid(run.key)).find(({ model }) => model === "admin/slow");
    expect(slow?.status).toBe(499);
    expect(slow?.price).toBeGreaterThan(0.004);
  }, 60_000);

  test("is charged for its use when another call fails the run, and is not run again", async () => {
    // The hold of slow makes dear wait; the charge of cheap leaves too little for it.
    const agent = running("slow", "cheap", "dear");
    const worker = await startWorker();
    llm.script = async (request) => {
      if (request.model === "llm") {
        // The models are then cached, so that the calls of the step reserve their cost in order.
        for (const name of ["slow", "cheap", "dear"]) await worker.call("GET", `/api/v1/admin/${name}/openapi.json`);
        return agent(request);
      }
      if (request.model === "slow") return { text: "A part of", hangs: true };
      await sleep(500);
      return { text: "Here." };
    };
    const run = await startRun({ max_cost: 1 });
    expect(await ended(run)).toMatchObject({ status: "error", error: { type: "limit_exceeded" } });
    expect(asked("dear")).toBe(0);
    await waitFor("the calls to end", async () => (await paid(run.key)).length === 3);
    const slow = (await paid(run.key)).find(({ model }) => model === "admin/slow");
    expect(slow?.status).toBe(499);
    expect(slow?.price).toBeGreaterThan(0.004);
  }, 60_000);
});
