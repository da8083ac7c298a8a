import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
let output: unknown = "made";
const cog = createServer((request, response) => {
  request.resume();
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ status: "succeeded", output }));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => cog.listen(0, "127.0.0.1", resolve));
  gantry = await startGantry();
  const put = await gantry.call("PUT", "/api/v1/admin/diary", {
    json: {
      kind: "other",
      capacity: 8,
      input: { type: "object", properties: { at: { type: "string", format: "date-time" } } },
      output: { type: "object", properties: { mood: { type: ["string", "null"], enum: ["made", "good"] } } },
      backend: { type: "cog", url: `http://127.0.0.1:${(cog.address() as AddressInfo).port}` },
    },
  });
  expect(put.status, put.text).toBe(201);
});
afterAll(async () => {
  await gantry.close();
  cog.close();
});

const route = "/api/v1/admin/diary/predict";
const faultsOf = ({ status, body, text }: Answer) => {
  expect(status, text).toBe(422);
  return body.detail;
};

test.each([
  "2026-02-30T00:00:00",
  "2025-02-29T00:00:00Z",
  "2026-01-31T24:00:00",
  "2026-01-31T23:60:00",
  "2026-01-31T23:59:60Z",
  "2026-13-01T00:00:00",
  "2026-01-31T00:00:00+24:00",
  "2026-01-31T00:00:00 02:00",
  "2026-01-31",
])("%s is not a valid time", async (at) => {
  const [fault, ...more] = faultsOf(await gantry.call("POST", route, { form: { at } }));
  expect(more).toEqual([]);
  expect(fault).toMatchObject({ type: "datetime_parsing", loc: ["body", "at"], input: at });
});

test.each([
  "2024-02-29T00:00:00",
  "2026-01-31 23:59",
  "2026-01-31t23:59:59.123456789012z",
  "2026-01-31T23:59:59+05:30",
  "2026-01-31T23:59:59-0530",
])("%s is a valid time", async (at) => {
  const answer = await gantry.call("POST", route, { form: { at } });
  expect(answer.status, answer.text).toBe(200);
});

test("null is valid for a nullable output, whatever its enum", async () => {
  output = { mood: null };
  const answer = await gantry.call("POST", route, { form: { at: "2026-01-31 23:59" } });
  expect(answer.body.output_data, answer.text).toEqual({ mood: null });
  output = { mood: "bad" };
  expect((await gantry.call("POST", route, { form: { at: "2026-01-31 23:59" } })).status).toBe(502);
  output = "made";
});

test("all faults in the query of a result are reported", async () => {
  const { body } = await gantry.call("POST", `${route}/async/`, { form: { at: "2026-01-31 23:59" } });
  const id: string = body.prediction_id;
  const ask = (query: string) => gantry.call("GET", `${route}/async/result/?${query}`);
  expect((await ask(`request_id=${id}&wait=20`)).status).toBe(200);
  expect(faultsOf(await ask(`request_id=${id}&request_id=${id}&wait=-1`))).toMatchObject([
    { type: "string_type", loc: ["query", "request_id"], input: [id, id] },
    { type: "greater_than_equal", loc: ["query", "wait"], ctx: { ge: 0 }, input: "-1" },
  ]);
  expect(faultsOf(await ask("wait=soon"))).toMatchObject([
    { type: "missing", loc: ["query", "request_id"] },
    { type: "float_parsing", loc: ["query", "wait"], input: "soon" },
  ]);
  for (const wait of ["", "%20", "0x1", "1&wait=1", "NaN"]) {
    expect(faultsOf(await ask(`request_id=${id}&wait=${wait}`))[0].type).toBe("float_parsing");
  }
  expect(faultsOf(await ask(`request_id=${id}&wait=60.5`))[0]).toMatchObject({
    type: "less_than_equal",
    ctx: { le: 60 },
  });
  for (const wait of ["0", "0.5", "1e-1", "%2B1"])
    expect((await ask(`request_id=${id}&wait=${wait}`)).status).toBe(200);
});

test("an id to cancel that is not a string is reported", async () => {
  const cancel = (query: string, json?: unknown) => gantry.call("POST", `${route}/cancel/${query}`, { json });
  for (const [json, name] of [
    [{ prediction_id: 5 }, "prediction_id"],
    [{ infer_id: ["pred_1"] }, "infer_id"],
    [{ prediction_id: null, infer_id: false }, "infer_id"],
  ] as const) {
    expect(faultsOf(await cancel("", json))).toMatchObject([{ type: "string_type", loc: ["body", name] }]);
  }
  expect(faultsOf(await cancel("?prediction_id=a&prediction_id=b"))).toMatchObject([
    { type: "string_type", loc: ["query", "prediction_id"] },
  ]);
  for (const json of [{}, [], { prediction_id: null }, { prediction_id: "" }]) {
    expect(faultsOf(await cancel("", json))).toMatchObject([{ type: "missing", loc: ["body", "prediction_id"] }]);
  }
  const unknown = { prediction_id: null, infer_id: "pred_00000000000000000000000000" };
  expect((await cancel("", unknown)).status).toBe(404);
});
