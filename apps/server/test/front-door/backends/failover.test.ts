import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Behaviour, type FickleUpstream, startFickleUpstream } from "../../support/fickle-upstream.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import {
  backendAt,
  backendsAt,
  endCoolDown,
  form,
  putListed,
  streamed,
  usageOf,
} from "../../support/listed-backends.ts";

let gantry: GantryNode;
let first: FickleUpstream;
let second: FickleUpstream;
let made = 0;

beforeAll(async () => {
  gantry = await startGantry();
  first = await startFickleUpstream({ text: "first" });
  second = await startFickleUpstream({ text: "second" });
});
afterAll(async () => {
  await gantry.close();
  await Promise.all([first.close(), second.close()]);
});
beforeEach(() => {
  first.behaviour = { text: "first" };
  second.behaviour = { text: "second" };
  for (const upstream of [first, second]) upstream.requests.length = 0;
});

/** A model of its own for each test, so that circuits of others do not matter. */
async function newModel(change: object = {}, [ofFirst, ofSecond]: [object?, object?] = []): Promise<string> {
  const model = `admin/m${++made}`;
  const backends = [backendAt("first", first, ofFirst), backendAt("second", second, { priority: 1, ...ofSecond })];
  await putListed(gantry, model, backends, change);
  return model;
}

const stream = (model: string, options: object = {}) => streamed(gantry, model, options);

describe("another backend answers", () => {
  test.each<[what: string, behaviour: Behaviour]>([
    ["503", { status: 503 }],
    ["500", { status: 500 }],
    ["429", { status: 429 }],
    ["429 with a time to wait", { status: 429, retryAfter: 60 }],
    ["529", { status: 529 }],
    ["a refused key", { status: 401 }],
    ["a connection that closes", "cut"],
    ["a stream without an event", "cut in headers"],
  ])("after %s", async (_, behaviour) => {
    const model = await newModel();
    first.behaviour = behaviour;
    const { id, ...answer } = await stream(model);
    expect(answer).toEqual({ text: "second", status: 200 });
    expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
    expect(await usageOf(gantry, id)).toMatchObject({ status: 200, backend: "second" });
  });

  test("after a refused connection", async () => {
    const model = await newModel();
    await first.stop();
    const answer = await stream(model);
    await first.start();
    expect(answer).toMatchObject({ text: "second", status: 200 });
  });

  test.each<Behaviour>(["hang", "hang in headers"])("after its time to the first byte: %s", async (behaviour) => {
    const model = await newModel({}, [{ timeout_seconds: 1 }]);
    first.behaviour = behaviour;
    const startedAt = performance.now();
    expect(await stream(model)).toMatchObject({ text: "second", status: 200 });
    expect(performance.now() - startedAt).toBeGreaterThan(900);
    await expect.poll(() => first.open).toBe(0);
  });

  test("of each protocol: sync answers of the OpenAI door", async () => {
    const model = await newModel();
    first.behaviour = { status: 503 };
    for (const stream of [false, true]) {
      const json = { model, messages: [{ role: "user", content: "hi" }], stream };
      const answer = await gantry.call("POST", "/v1/chat/completions", { json });
      expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("second")]);
    }
  });

  test("in the queue too", async () => {
    const model = await newModel();
    first.behaviour = { status: 503 };
    const accepted = await gantry.call("POST", `/api/v1/${model}/predict/async/`, { form });
    const address = `/api/v1/${model}/predict/async/result/?request_id=${accepted.body.prediction_id}&wait=20`;
    const [item] = (await gantry.call("GET", address)).body.inference_responses;
    expect(item.response).toEqual({ output: "second" });
    expect(await usageOf(gantry, accepted.body.prediction_id)).toMatchObject({ backend: "second" });
  });

  test("if a secret of one is missing", async () => {
    const model = await newModel({}, [{ secret: "not-stored" }]);
    expect(await stream(model)).toMatchObject({ text: "second", status: 200 });
    expect(first.requests).toHaveLength(0);
  });
});

describe("no other backend answers", () => {
  test.each<[what: string, behaviour: Behaviour, status: number]>([
    ["a refused request", { status: 400 }, 502],
    ["an unknown model", { status: 404 }, 502],
    ["a cut after the first byte", { cutAfter: "begun" }, 502],
  ])("after %s", async (_, behaviour, status) => {
    const model = await newModel();
    first.behaviour = behaviour;
    const { id, ...answer } = await stream(model);
    expect(answer.status).toBe(status);
    expect([first.requests.length, second.requests.length]).toEqual([1, 0]);
    expect(await usageOf(gantry, id)).toMatchObject({ status, backend: "first", price: 0 });
  });

  test("after its thoughts began", async () => {
    const model = await newModel({}, [{ timeout_seconds: 1 }]);
    first.behaviour = { reasoning: "hm", text: "first", afterMs: 1500 };
    expect(await stream(model)).toMatchObject({ text: "first", status: 200 });
    expect(second.requests).toHaveLength(0);
  });

  test("after the time limit of the model, and the backend has failed", async () => {
    const model = await newModel({ timeout_seconds: 1 });
    first.behaviour = "hang";
    expect(await stream(model)).toMatchObject({ status: 504 });
    expect(second.requests).toHaveLength(0);
  });

  test("after the client left", async () => {
    const model = await newModel();
    first.behaviour = "hang";
    const leaving = new AbortController();
    const left = stream(model, { signal: leaving.signal }).catch(() => {});
    await expect.poll(() => first.open).toBe(1);
    leaving.abort();
    await left;
    await expect.poll(() => first.open).toBe(0);
    expect(second.requests).toHaveLength(0);
  });
});

test("the last failure is reported if none answers, after three passes", async () => {
  const model = await newModel();
  first.behaviour = { status: 503 };
  second.behaviour = { status: 503 };
  const { id, ...answer } = await stream(model);
  expect(answer).toEqual({ text: "", status: 503 });
  expect([first.requests.length, second.requests.length]).toEqual([3, 3]);
  expect(await usageOf(gantry, id)).toMatchObject({ status: 503, price: 0, backend: "second" });
});

test("a failure that the client may retry counts more than one that it may not", async () => {
  const model = await newModel();
  first.behaviour = { status: 503 };
  second.behaviour = { status: 401 };
  expect(await stream(model)).toMatchObject({ status: 503 });
  expect([first.requests.length, second.requests.length]).toEqual([3, 1]);
});

test("backends of one priority share the calls by weight", async () => {
  const model = await newModel({ capacity: 20 }, [{ weight: 3 }, { priority: 0 }]);
  await Promise.all(Array.from({ length: 80 }, () => stream(model)));
  const share = first.requests.length / 80;
  expect(share).toBeGreaterThan(0.55);
  expect(share).toBeLessThan(0.92);
});

test("a backend that asks for time is left out for that time, by all calls", async () => {
  const model = await newModel();
  const askedAt = Date.now();
  first.behaviour = { status: 429, retryAfter: 300 };
  await stream(model);
  first.behaviour = { text: "first" };
  expect(await stream(model)).toMatchObject({ text: "second" });
  const stateOfFirst = async () => (await backendsAt(gantry, model))[0];
  await expect.poll(stateOfFirst).toMatchObject({ circuit: "open", reason: "429", failures: 1 });
  const openMs = Date.parse((await stateOfFirst()).open_until) - askedAt;
  expect(openMs).toBeGreaterThan(299_000);
  expect(openMs).toBeLessThan(350_000);
  await endCoolDown(gantry, model);
  await expect.poll(async () => (await stream(model)).text, { interval: 200 }).toBe("first");
  expect((await backendsAt(gantry, model))[0]).toMatchObject({ circuit: "closed", reason: null, failures: 0 });
});
