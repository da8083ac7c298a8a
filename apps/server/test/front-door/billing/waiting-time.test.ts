import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CogServer, startCog } from "../../../src/engines/models/test-upstreams/cog-server.ts";
import { jsonReply } from "../../../src/engines/models/test-upstreams/scripted-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { cogModel, createModels } from "../../support/models.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let cog: CogServer;
const route = "/api/v1/admin/waiting/predict";
const form = { prompt: "a" };

beforeAll(async () => {
  cog = await startCog();
  gantry = await startGantry();
  await createModels(gantry, { waiting: cogModel(cog.url, { pricing: { per_second: 1 } }) });
});
afterAll(async () => {
  await gantry.close();
  await cog.close();
});

const busy = () => ({ kind: "reply" as const, reply: jsonReply({ detail: "Already running a prediction" }, 409) });
const newest = async () => (await gantry.call("GET", "/api/v2/usage")).body.results[0];

test("waiting for a busy container is not charged", async () => {
  cog.output = "done";
  cog.predictSeconds = undefined;
  cog.odd.call.push(busy(), busy(), busy(), busy());
  const before = performance.now();
  const { body } = await gantry.call("POST", route, { form });
  const waited = (performance.now() - before) / 1000;
  expect(body.output_data).toEqual({ output: "done" });
  expect(waited).toBeGreaterThan(0.6);
  expect(body.inference_time).toBeLessThan(waited - 0.5);
  const row = await newest();
  expect(row.price).toBeCloseTo(row.inference_time, 3);
});

test("the time that the container reports is charged", async () => {
  cog.predictSeconds = 0.05;
  cog.runMs = 400;
  const { body } = await gantry.call("POST", route, { form });
  cog.runMs = 0;
  expect(body.inference_time).toBeCloseTo(0.05, 1);
  expect(body.inference_time).toBeLessThan(0.2);
  expect((await newest()).price).toBeCloseTo(body.inference_time, 3);
});

test.each([1_000_000, -5, "2", null])("a reported time of %j is not believed", async (seconds) => {
  cog.predictSeconds = seconds;
  const { body } = await gantry.call("POST", route, { form });
  cog.predictSeconds = undefined;
  expect(body.inference_time).toBeGreaterThanOrEqual(0);
  expect(body.inference_time).toBeLessThan(1);
  expect((await newest()).price).toBeLessThan(1);
});

test("a prediction cancelled while the container was busy costs nothing", async () => {
  cog.slots = 0;
  const seen = cog.seen.length;
  const accepted = await gantry.call("POST", `${route}/async/`, { form });
  const { prediction_id } = accepted.body;
  await waitFor("the container to be asked", async () => cog.seen.length > seen + 4);
  await gantry.call("POST", `${route}/cancel/`, { json: { prediction_id } });
  await waitFor("the prediction to end", async () => (await newest()).request_id === prediction_id);
  cog.slots = 4;
  expect(await newest()).toMatchObject({ status: 499, price: 0, inference_time: 0 });
});

test("a prediction cancelled after waiting pays for its run only", async () => {
  cog.odd.call.push(busy(), busy(), busy(), busy());
  cog.runMs = 60_000;
  const before = performance.now();
  const { prediction_id } = (await gantry.call("POST", `${route}/async/`, { form })).body;
  const attempts = () => cog.seen.filter((one) => one.body.includes(prediction_id)).length;
  await waitFor("the run", async () => attempts() === 5);
  await sleep(200);
  await gantry.call("POST", `${route}/cancel/`, { json: { prediction_id } });
  await waitFor("the prediction to end", async () => (await newest()).request_id === prediction_id);
  const took = (performance.now() - before) / 1000;
  cog.runMs = 0;
  expect(cog.cancelled).toContain(prediction_id);
  const row = await newest();
  expect(row.status).toBe(499);
  expect(row.price).toBeGreaterThan(0.15);
  expect(row.price).toBeLessThan(took - 0.4);
});
