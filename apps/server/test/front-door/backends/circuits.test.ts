import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { type FickleUpstream, startFickleUpstream } from "../../support/fickle-upstream.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import {
  backendAt,
  backendsAt,
  endCoolDown as endCoolDownOn,
  putListed,
  streamed,
} from "../../support/listed-backends.ts";

let here: GantryNode;
let there: GantryNode;
let first: FickleUpstream;
let second: FickleUpstream;
let made = 0;

beforeAll(async () => {
  here = await startGantry();
  there = await startGantry({ beside: here });
  first = await startFickleUpstream({ text: "first" });
  second = await startFickleUpstream({ text: "second" });
});
afterAll(async () => {
  await there.close();
  await here.close();
  await Promise.all([first.close(), second.close()]);
});
beforeEach(() => {
  first.behaviour = { text: "first" };
  second.behaviour = { text: "second" };
  for (const upstream of [first, second]) upstream.requests.length = 0;
});

async function newModel(change: object = {}): Promise<string> {
  const model = `admin/m${++made}`;
  await putListed(here, model, [backendAt("first", first, change), backendAt("second", second, { priority: 1 })], {
    capacity: 50,
  });
  return model;
}

async function openFirst(model: string): Promise<void> {
  first.behaviour = { status: 503 };
  for (let n = 0; n < 3; n++) await streamed(here, model);
  await expect.poll(async () => (await backendsAt(here, model))[0].circuit).toBe("open");
  first.requests.length = 0;
}

const endCoolDown = (model: string) => endCoolDownOn(here, model);

test("three failures in a row open a circuit on all nodes, and only they are written", async () => {
  const model = await newModel();
  first.behaviour = { status: 503 };
  await streamed(here, model);
  await streamed(here, model);
  expect(await here.database.sql`select 1 from backend_circuits`).toHaveLength(0);
  await streamed(here, model);
  await expect
    .poll(async () => (await backendsAt(here, model))[0])
    .toMatchObject({
      circuit: "open",
      failures: 3,
      reason: "503",
      opened_at: expect.any(String),
    });
  await expect
    .poll(async () => {
      first.requests.length = 0;
      await streamed(there, model);
      return first.requests.length;
    })
    .toBe(0);
  await here.call("DELETE", `/api/v1/${model}`);
});

test("a backend that was called when the time of the model was almost over has not failed", async () => {
  const model = `admin/m${++made}`;
  const backends = [backendAt("first", first, { timeout_seconds: 3 }), backendAt("second", second, { priority: 1 })];
  await putListed(here, model, backends, { timeout_seconds: 4 });
  first.behaviour = "hang";
  second.behaviour = { text: "second", afterMs: 1_800 };
  const answers = await Promise.all([1, 2, 3].map(() => streamed(here, model)));
  expect(answers.map(({ status }) => status)).toEqual([504, 504, 504]);
  await expect.poll(async () => (await backendsAt(here, model))[0].circuit).toBe("open");
  expect((await backendsAt(here, model))[1]).toMatchObject({ circuit: "closed", failures: 0 });
  expect(await streamed(here, model)).toMatchObject({ text: "second" });
});

test("a success between failures keeps the circuit closed", async () => {
  const model = await newModel();
  first.behaviour = (n) => (n % 3 === 0 ? { text: "first" } : { status: 503 });
  for (let n = 0; n < 9; n++) await streamed(here, model);
  expect(first.requests).toHaveLength(9);
  expect((await backendsAt(here, model))[0].circuit).toBe("closed");
});

test("one call over all nodes tests the backend, and its answer closes the circuit everywhere", async () => {
  const model = await newModel();
  await openFirst(model);
  const probe = Promise.withResolvers<void>();
  onTestFinished(() => probe.resolve());
  first.behaviour = { text: "first", until: probe.promise };
  await endCoolDown(model);
  const calls: Promise<{ text: string }>[] = [];
  let seconds = 0;
  const call = async (node: GantryNode) => {
    const answer = await streamed(node, model);
    if (answer.text === "second") seconds++;
    return answer;
  };
  const callBoth = (times: number) => {
    for (let n = 0; n < times; n++) calls.push(call(here), call(there));
    return first.open;
  };
  await expect.poll(() => callBoth(1), { interval: 100 }).toBe(1);
  callBoth(10);
  await expect.poll(() => seconds).toBe(calls.length - 1);
  probe.resolve();
  const answers = await Promise.all(calls);
  expect(first.requests).toHaveLength(1);
  expect(answers.filter(({ text }) => text === "first")).toHaveLength(1);
  expect(answers.filter(({ text }) => text === "second")).toHaveLength(answers.length - 1);
  await expect.poll(async () => (await backendsAt(here, model))[0].circuit).toBe("closed");
  first.behaviour = { text: "first" };
  for (const node of [here, there]) expect(await streamed(node, model)).toMatchObject({ text: "first" });
});

test("a failed test opens the circuit for longer", async () => {
  const model = await newModel();
  await openFirst(model);
  const before = (await backendsAt(here, model))[0];
  await endCoolDown(model);
  await expect
    .poll(async () => {
      expect(await streamed(there, model)).toMatchObject({ text: "second" });
      return first.requests.length;
    })
    .toBe(1);
  await expect.poll(async () => (await backendsAt(here, model))[0].circuit).toBe("open");
  const after = (await backendsAt(here, model))[0];
  const pause = Date.parse(after.open_until) - Date.now();
  expect(pause).toBeGreaterThan(6_000);
  expect(pause).toBeLessThan(11_500);
  expect(Date.parse(after.opened_at)).toBe(Date.parse(before.opened_at));
});

test("a cancelled test lets the next call test", async () => {
  const model = await newModel();
  await openFirst(model);
  first.behaviour = "hang";
  await endCoolDown(model);
  const leaving = new AbortController();
  const calls: Promise<unknown>[] = [];
  const call = () => {
    calls.push(streamed(here, model, { signal: leaving.signal }).catch(() => {}));
    return first.open;
  };
  await expect.poll(call, { interval: 100 }).toBe(1);
  leaving.abort();
  await Promise.all(calls);
  first.behaviour = { text: "first" };
  await expect.poll(async () => (await streamed(there, model)).text, { timeout: 8_000, interval: 200 }).toBe("first");
});

test("a refused request is an answer, which closes the circuit", async () => {
  const model = await newModel();
  await openFirst(model);
  first.behaviour = { status: 400 };
  await endCoolDown(model);
  await expect.poll(async () => (await streamed(here, model)).status).toBe(502);
  await expect.poll(async () => (await backendsAt(here, model))[0].circuit).toBe("closed");
});

test("if all circuits are open, the best backend is tried anyway and its answer closes the circuit", async () => {
  const model = await newModel();
  second.behaviour = { status: 503 };
  await openFirst(model);
  await expect.poll(async () => (await backendsAt(here, model))[1].circuit).toBe("open");
  first.behaviour = { text: "first" };
  expect(await streamed(here, model)).toMatchObject({ text: "first" });
  await expect.poll(async () => (await backendsAt(here, model))[0].circuit).toBe("closed");
  expect((await backendsAt(here, model))[1].circuit).toBe("open");
});

test("a backend that hangs until the time limit of the model opens its circuit", async () => {
  const model = await newModel();
  await here.call("PATCH", `/api/v1/${model}`, { json: { timeout_seconds: 1 } });
  first.behaviour = "hang";
  await Promise.all(Array.from({ length: 3 }, () => streamed(here, model)));
  await expect
    .poll(async () => (await backendsAt(here, model))[0])
    .toMatchObject({ circuit: "open", reason: "timeout" });
  await expect.poll(async () => (await streamed(there, model)).text, { timeout: 8_000 }).toBe("second");
});

test("changing or deleting the model forgets its circuits on all nodes", async () => {
  const model = await newModel();
  await openFirst(model);
  first.behaviour = { text: "first" };
  await there.call("PATCH", `/api/v1/${model}`, { json: { description: "changed" } });
  expect((await backendsAt(there, model))[0].circuit).toBe("closed");
  await expect.poll(async () => (await streamed(here, model)).text).toBe("first");
  await openFirst(model);
  await here.call("DELETE", `/api/v1/${model}`);
  const left = await here.database.sql`
    select 1 from backend_circuits where model_id in (select id from models where name = ${model.slice(6)})`;
  expect(left).toHaveLength(0);
});

test("a model with a single listed backend has no circuit and its tries are those of a plain model", async () => {
  const model = `admin/m${++made}`;
  await putListed(here, model, [backendAt("first", first)]);
  first.behaviour = { status: 503 };
  for (let n = 0; n < 2; n++) expect(await streamed(here, model)).toMatchObject({ status: 503 });
  expect(first.requests).toHaveLength(6);
  expect((await backendsAt(here, model))[0]).toMatchObject({ circuit: "closed" });
  first.behaviour = { text: "first" };
  expect(await streamed(here, model)).toMatchObject({ text: "first" });
});

test("metrics name the model and the backend, and count failovers and open circuits", async () => {
  const model = await newModel();
  await openFirst(model);
  const { text } = await here.call("GET", "/metrics");
  expect(text).toContain(`gantry_backend_calls_total{model="${model}",backend="first",outcome="503"} 3`);
  expect(text).toContain(`gantry_backend_calls_total{model="${model}",backend="second",outcome="answered"} 3`);
  expect(text).toContain(`gantry_backend_failovers_total{model="${model}",backend="first",reason="503"} 3`);
  expect(Number(/^gantry_backend_circuits_open (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
});
