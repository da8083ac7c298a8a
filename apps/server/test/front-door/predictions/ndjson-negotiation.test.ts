import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
let id: string;
const route = "/api/v1/gantry/rules/predict";
const form = { prompt: "What is 6 times 7?" };

beforeAll(async () => {
  gantry = await startGantry();
  id = (await gantry.call("POST", `${route}/async/`, { form })).body.prediction_id;
  await gantry.call("GET", `${route}/async/result/?request_id=${id}&wait=20`);
});
afterAll(() => gantry.close());

const json = "application/json; charset=utf-8";
const lines = "application/x-ndjson; charset=utf-8";

test.each([
  ["application/x-ndjson", lines],
  ["Application/X-NDJSON", lines],
  ["application/x-ndjson; charset=utf-8", lines],
  ["application/json;q=0.5, application/x-ndjson", lines],
  ["application/x-ndjson, */*", lines],
  ["application/x-ndjson, application/json", lines],
  ["application/x-ndjson;q=0.5", lines],
  ["application/x-ndjson;q=0, application/json", json],
  ["application/x-ndjson;q=0.0", json],
  ["application/x-ndjson;q=0.4, application/json;q=0.8", json],
  ["application/json, application/x-ndjson", json],
  ["application/x-ndjson-not", json],
  ["text/plain;a=application/x-ndjson", json],
  ["*/*", json],
])("Accept: %s gets %s", async (accept, type) => {
  const headers = { accept };
  const result = await gantry.call("GET", `${route}/async/result/?request_id=${id}`, { headers });
  expect([result.status, result.headers.get("content-type")]).toEqual([200, type]);
  const accepted = await gantry.call("POST", `${route}/async/`, { form, headers });
  expect([accepted.status, accepted.headers.get("content-type")]).toEqual([200, type]);
});
