import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type FickleUpstream, startFickleUpstream } from "../../support/fickle-upstream.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { backendAt, backendsAt, putListed, streamed, usageOf } from "../../support/listed-backends.ts";

let here: GantryNode;
let there: GantryNode;
let first: FickleUpstream;
let second: FickleUpstream;
let made = 0;

beforeAll(async () => {
  here = await startGantry();
  there = await startGantry({ beside: here });
});
afterAll(async () => {
  await there.close();
  await here.close();
});
beforeEach(async () => {
  first = await startFickleUpstream({ text: "first", afterMs: 200 });
  second = await startFickleUpstream({ text: "second", afterMs: 200 });
  return () => Promise.all([first.close(), second.close()]).then(() => {});
});

const running = async () => (await here.database.sql`select * from backend_calls`).length;
const everyNode = (calls: number, model: string) =>
  Promise.all(Array.from({ length: calls }, (_, n) => streamed(n % 2 ? here : there, model)));

async function newModel(backends: readonly object[], change: object = {}): Promise<string> {
  const model = `admin/m${++made}`;
  await putListed(here, model, backends, { capacity: 50, ...change });
  return model;
}

test("a full backend is skipped, and no node exceeds its capacity", async () => {
  const model = await newModel([
    backendAt("first", first, { capacity: 2 }),
    backendAt("second", second, { priority: 1 }),
  ]);
  const answers = await everyNode(20, model);
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  expect(first.peak).toBeLessThanOrEqual(2);
  expect(first.requests.length).toBeGreaterThanOrEqual(2);
  expect(second.requests.length).toBe(20 - first.requests.length);
  await expect.poll(running).toBe(0);
  expect((await backendsAt(here, model))[0]).toMatchObject({ running: 0, capacity: 2 });
});

test("if all are full, calls wait their turn and none is lost", async () => {
  const model = await newModel([
    backendAt("first", first, { capacity: 2 }),
    backendAt("second", second, { priority: 1, capacity: 1 }),
  ]);
  const answers = await everyNode(24, model);
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  expect([first.peak, second.peak]).toEqual([2, 1]);
  expect(first.requests.length + second.requests.length).toBe(24);
  await expect.poll(running).toBe(0);
}, 30_000);

test("the wait is neither charged nor part of the inference time", async () => {
  first.behaviour = { text: "first", afterMs: 1500 };
  const model = await newModel([backendAt("only", first, { capacity: 1 })], { pricing: { per_second: 0.01 } });
  const calls = await Promise.all([streamed(here, model), streamed(here, model), streamed(there, model)]);
  for (const { id, status } of calls) {
    expect(status).toBe(200);
    const { price, inference_time: seconds } = await usageOf(here, id);
    expect(seconds).toBeGreaterThan(1.4);
    expect(seconds).toBeLessThan(2.6);
    expect(price).toBeCloseTo(seconds / 100, 3);
  }
}, 20_000);

test("a call that is cancelled while it waits costs nothing, and leaves its place", async () => {
  first.behaviour = { text: "first", afterMs: 2000 };
  const model = await newModel([backendAt("only", first, { capacity: 1 })], { pricing: { per_second: 0.01 } });
  const busy = streamed(here, model);
  await expect.poll(() => first.open).toBe(1);
  const leaving = new AbortController();
  const waiting = streamed(here, model, { signal: leaving.signal }).catch(() => {});
  const behind = streamed(here, model);
  await new Promise((resolve) => setTimeout(resolve, 500));
  leaving.abort();
  await waiting;
  expect((await Promise.all([busy, behind])).map(({ status }) => status)).toEqual([200, 200]);
  expect(first.requests).toHaveLength(2);
  const { results } = (await here.call("GET", "/api/v2/usage?page_size=10")).body;
  const cancelled = results.filter(({ status }: { status: number }) => status === 499);
  expect(cancelled).toMatchObject([{ price: 0, backend: null }]);
}, 20_000);

test("the wait ends with the time limit of the model", async () => {
  first.behaviour = { beginsWith: "first" };
  const model = await newModel([backendAt("only", first, { capacity: 1 })], { timeout_seconds: 2 });
  const answers = await Promise.all([streamed(here, model), streamed(there, model)]);
  expect(answers.map(({ status }) => status)).toEqual([504, 504]);
  await expect.poll(running).toBe(0);
});

test("a backend that fails gives its slot back", async () => {
  const model = await newModel([
    backendAt("first", first, { capacity: 1 }),
    backendAt("second", second, { priority: 1 }),
  ]);
  first.behaviour = { status: 503 };
  expect(await streamed(here, model)).toMatchObject({ text: "second" });
  await expect.poll(running).toBe(0);
  first.behaviour = { text: "first" };
  expect(await streamed(here, model)).toMatchObject({ text: "first" });
});

test("slots of a dead node are freed", async () => {
  const model = await newModel([backendAt("only", first, { capacity: 1 })]);
  const [row] = await here.database.sql`
    select claim_backend_slot('of-a-dead-node', (select id from models where name = ${model.slice(6)}), 'only', 1,
      'node_gone') as claimed`;
  expect(row).toEqual({ claimed: true });
  expect(await streamed(here, model)).toMatchObject({ text: "first" });
});
