import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { type SlowCog, startSlowCog } from "../../support/slow-cog.ts";
import { waitFor } from "../../support/wait-for.ts";

/** A caller keeps access to a prediction after its model is retired. */
let gantry: GantryNode;
let cog: SlowCog;
let key: string;

const path = "/api/v1/admin/passing";
const text = { type: "string" };
const notFound = { detail: "Project not found", status_code: 404 };

beforeAll(async () => {
  cog = await startSlowCog();
  gantry = await startGantry();
  key = await gantry.newUser("caller");
});

afterAll(async () => {
  await gantry.close();
  await cog.close();
});

beforeEach(async () => {
  const json = {
    title: "Passing",
    description: "Soon gone.",
    kind: "other",
    visibility: "public",
    capacity: 4,
    pricing: { per_request: 0.01 },
    input: { type: "object", required: ["prompt"], properties: { prompt: text } },
    output: { type: "object", required: ["output"], properties: { output: text } },
    backend: { type: "cog", url: cog.url },
  };
  const put = await gantry.call("PUT", path, { json });
  expect(put.status, put.text).toBe(201);
});

const pathOf = (address: string) => address.slice(address.indexOf("/api/"));

/** Starts a prediction and retires its model. */
async function orphan(): Promise<{ id: string; result: string; cancel: string }> {
  const { body } = await gantry.call("POST", `${path}/predict/async/`, { form: { prompt: "x" }, key });
  await waitFor("the upstream call", () => cog.open === 1);
  expect((await gantry.call("DELETE", path)).status).toBe(204);
  return { id: body.prediction_id, result: pathOf(body.result_url), cancel: pathOf(body.cancel_url) };
}

test("its caller can read the result as JSON and as JSON lines", async () => {
  const { id, result } = await orphan();
  const pending = await gantry.call("GET", result, { key });
  expect(pending.body.inference_responses?.[0].infer_details).toMatchObject({ status: 202, request_id: id });
  cog.finishOne();
  const done = await gantry.call("GET", `${result}&wait=20`, { key });
  expect(done.body.inference_responses[0]).toMatchObject({
    infer_details: { status: 200 },
    response: { output: "done" },
  });
  const lines = await gantry.call("GET", result, { key, headers: { accept: "application/x-ndjson" } });
  expect(
    lines.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { prediction_id: id },
    { output_data: { output: "done" }, status: 200, files: {} },
    { output_data: {}, status: 200 },
  ]);
});

test("its caller can cancel it, by the link and by a body", async () => {
  const { id, cancel } = await orphan();
  expect((await gantry.call("POST", cancel, { key })).body).toEqual({ prediction_id: id, status: 499 });
  await waitFor("the upstream call to be closed", () => cog.open === 0);
  const again = await gantry.call("PATCH", `${path}/predict/cancel/`, { key, json: { infer_id: id } });
  expect(again.body).toEqual({ prediction_id: id, status: 499 });
});

test("other users, other ids and other routes are Project not found", async () => {
  const { id, result, cancel } = await orphan();
  const other = await gantry.newUser("stranger");
  const confined = await gantry.call("POST", "/api/v2/admin/users/caller/keys", { json: { models: ["gantry/text"] } });
  expect(confined.status, confined.text).toBe(201);
  for (const stranger of [other, gantry.adminKey, confined.body.key]) {
    expect((await gantry.call("GET", result, { key: stranger })).body).toEqual(notFound);
    expect((await gantry.call("POST", cancel, { key: stranger })).body).toEqual(notFound);
  }
  const unknown = "pred_00000000000000000000000000";
  for (const [method, address] of [
    ["GET", result.replace(id, unknown)],
    ["GET", `${path}/predict/async/result/`],
    ["GET", result.replace("/passing/", "/never/")],
    ["POST", cancel.replace(id, unknown)],
    ["POST", `${path}/predict/cancel/`],
    ["GET", `${path}/flow`],
    ["GET", `${path}/openapi.json`],
    ["GET", `${path}/download_s3_url?s3_path_to_sign=s3://a/b`],
    ["POST", `${path}/predict`],
    ["POST", `${path}/predict/async/`],
    ["POST", `${path}/predict/stream/`],
  ] as const) {
    expect((await gantry.call(method, address, { key })).body, address).toEqual(notFound);
  }
  cog.finishOne();
  expect(
    (await gantry.call("GET", `${result}&wait=20`, { key })).body.inference_responses[0].infer_details.status,
  ).toBe(200);
});
