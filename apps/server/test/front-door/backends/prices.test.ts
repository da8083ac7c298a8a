import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { type FickleUpstream, startFickleUpstream } from "../../support/fickle-upstream.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { backendAt, form, putListed, streamed, usageOf } from "../../support/listed-backends.ts";

let gantry: GantryNode;
let cheap: FickleUpstream;
let dear: FickleUpstream;
let made = 0;

beforeAll(async () => {
  gantry = await startGantry();
  cheap = await startFickleUpstream({ text: "cheap" });
  dear = await startFickleUpstream({ text: "dear" });
});
afterAll(async () => {
  expect(await verifyLedger(gantry.database)).toEqual([]);
  await gantry.close();
  await Promise.all([cheap.close(), dear.close()]);
});
beforeEach(() => {
  cheap.behaviour = { text: "cheap" };
  dear.behaviour = { text: "dear" };
});

async function newModel(change: object = {}): Promise<string> {
  const model = `admin/m${++made}`;
  const backends = [
    backendAt("cheap", cheap),
    backendAt("dear", dear, { priority: 1, pricing: { per_request: 2, per_million_output_tokens: 1000 } }),
  ];
  await putListed(gantry, model, backends, { pricing: { per_request: 0.5 }, ...change });
  return model;
}

const reserved = async (id: string) =>
  (await gantry.database.sql<{ n: number }[]>`select reserved_micros as n from usage where request_id = ${id}`)[0]?.n;

test("the dearest backend is reserved, and the one that answers is charged", async () => {
  const model = await newModel();
  const first = await streamed(gantry, model);
  expect(await usageOf(gantry, first.id)).toMatchObject({ backend: "cheap", price: 0.5 });
  cheap.behaviour = { status: 503 };
  const second = await streamed(gantry, model);
  expect(await usageOf(gantry, second.id)).toMatchObject({ backend: "dear", price: 2.01, output_tokens: 10 });
  for (const { id } of [first, second]) expect(await reserved(id)).toBe(2_000_000 + 4096 * 1000);
  // Both get the limit of the reservation.
  for (const { requests } of [cheap, dear]) expect(requests.at(-1)).toMatchObject({ max_tokens: 4096 });
});

test("funds must cover the dearest, and other callers see its prices but not the backends", async () => {
  const model = await newModel();
  const key = await gantry.newUser("poor", { credit: 0.1 });
  const { body: card } = await gantry.call("GET", `/api/v1/${model}`, { key });
  expect(card.pricing).toEqual({ per_request: 2, per_million_output_tokens: 1000 });
  expect(card).not.toHaveProperty("backends");
  expect((await gantry.call("GET", `/api/v1/${model}/backends`, { key })).status).toBe(403);
  const { id } = await streamed(gantry, model, { key });
  expect(await usageOf(gantry, id, key)).toMatchObject({ price: 0.5, backend: null });
  const { body: me } = await gantry.call("GET", "/api/v2/me", { key });
  expect(me).toMatchObject({ balance: -0.4, reserved: 0 });
});

/** The cheap backend answers when the promise is resolved, or the test ends. */
function holdCheap(): PromiseWithResolvers<void> {
  const held = Promise.withResolvers<void>();
  onTestFinished(() => held.resolve());
  cheap.behaviour = { text: "cheap", until: held.promise };
  return held;
}

test("a queued prediction keeps the prices of its acceptance, whichever backend answers", async () => {
  const model = await newModel({ capacity: 1 });
  const held = holdCheap();
  const running = streamed(gantry, model);
  await expect.poll(() => cheap.open).toBe(1);
  const { body: accepted } = await gantry.call("POST", `/api/v1/${model}/predict/async/`, { form });
  const backends = [backendAt("cheap", cheap), backendAt("dear", dear, { priority: 1, pricing: { per_request: 900 } })];
  await putListed(gantry, model, backends, { pricing: { per_request: 800 } });
  cheap.behaviour = { status: 503 };
  held.resolve();
  await running;
  const result = `/api/v1/${model}/predict/async/result/?request_id=${accepted.prediction_id}&wait=20`;
  const [item] = (await gantry.call("GET", result)).body.inference_responses;
  expect(item.response).toEqual({ output: "dear" });
  expect(await usageOf(gantry, accepted.prediction_id)).toMatchObject({ backend: "dear", price: 2.01 });
});

test("a job that was accepted without prices of backends is charged at the model's", async () => {
  const model = await newModel({ capacity: 0 });
  await gantry.call("PATCH", `/api/v1/${model}`, { json: { capacity: 1 } });
  const held = holdCheap();
  const running = streamed(gantry, model);
  await expect.poll(() => cheap.open).toBe(1);
  const { body: accepted } = await gantry.call("POST", `/api/v1/${model}/predict/async/`, { form });
  await gantry.database.sql`
    update live_predictions set pricing = '{"per_request": 0.5}'::json where id = ${accepted.prediction_id}`;
  cheap.behaviour = { status: 503 };
  held.resolve();
  await running;
  const result = `/api/v1/${model}/predict/async/result/?request_id=${accepted.prediction_id}&wait=20`;
  await gantry.call("GET", result);
  expect(await usageOf(gantry, accepted.prediction_id)).toMatchObject({ backend: "dear", price: 0.5 });
});

test("the time at a failed backend is not charged", async () => {
  const model = `admin/m${++made}`;
  const backends = [backendAt("slow", cheap, { timeout_seconds: 1.5 }), backendAt("quick", dear, { priority: 1 })];
  await putListed(gantry, model, backends, { pricing: { per_second: 1 } });
  cheap.behaviour = "hang";
  const { id, text } = await streamed(gantry, model);
  expect(text).toBe("dear");
  const { price, inference_time: seconds } = await usageOf(gantry, id);
  expect([price, seconds].every((figure) => figure < 1)).toBe(true);
});

test("a failure before an answer costs nothing", async () => {
  const model = await newModel();
  cheap.behaviour = { status: 401 };
  dear.behaviour = { status: 401 };
  const { id, status } = await streamed(gantry, model);
  expect(status).toBe(502);
  expect(await usageOf(gantry, id)).toMatchObject({ price: 0, backend: "dear" });
});
