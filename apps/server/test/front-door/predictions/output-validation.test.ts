import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
let answered: unknown;
const cog = createServer((request, response) => {
  request.resume();
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ status: "succeeded", output: answered }));
});
const price = 0.5;
const route = "/api/v1/admin/promises/predict";

const properties = {
  m: { type: "number", minimum: 0, maximum: 1 },
  s: { type: "string", minLength: 1, maxLength: 2 },
  o: {
    type: "object",
    properties: { k: { type: "integer" }, when: { type: "string", format: "date-time" } },
    required: ["k"],
    additionalProperties: false,
  },
  list: { type: "array", items: { type: "string", maxLength: 3 }, minItems: 1, maxItems: 2 },
  grid: { type: "array", enum: [[1, 2], [{ a: 1, b: [2] }]] },
  link: { type: "string", format: "uri" },
  count: { type: "integer" },
};

beforeAll(async () => {
  await new Promise<void>((resolve) => cog.listen(0, "127.0.0.1", resolve));
  gantry = await startGantry();
  const put = await gantry.call("PUT", "/api/v1/admin/promises", {
    json: {
      kind: "other",
      capacity: 8,
      pricing: { per_request: price },
      input: { type: "object", properties: {} },
      output: { type: "object", properties },
      backend: { type: "cog", url: `http://127.0.0.1:${(cog.address() as AddressInfo).port}` },
    },
  });
  expect(put.status, put.text).toBe(201);
});
afterAll(async () => {
  await gantry.close();
  cog.close();
});

async function predict(output: object) {
  answered = output;
  const before = (await gantry.call("GET", "/api/v2/me")).body.balance;
  const form = new FormData();
  const answer = await gantry.call("POST", route, { form });
  const charged = before - (await gantry.call("GET", "/api/v2/me")).body.balance;
  return { ...answer, charged };
}

test.each<[object]>([
  [{ m: 1, s: "😀😀" }],
  [{ o: { k: 3, when: "2026-01-31 23:59" } }],
  [{ list: ["a", "bcd"] }],
  [{ grid: [1, 2] }],
  [{ grid: [{ b: [2], a: 1 }] }],
  [{ link: "https://exämple.org/ü" }],
  // More digits than a double can represent, like many seeds.
  [{ count: 2 ** 60 }],
  // Null counts as omitted for an optional part.
  [{ o: { k: 1, when: null } }],
])("%j matches the output schema", async (output) => {
  const { status, text, body, charged } = await predict(output);
  expect(status, text).toBe(200);
  expect(body.output_data).toEqual(output);
  expect(charged).toBeCloseTo(price);
});

test.each<[object]>([
  [{ m: 5 }],
  [{ m: -0.1 }],
  [{ s: "long" }],
  [{ s: "" }],
  [{ s: "😀😀😀" }],
  [{ o: { k: "z" } }],
  [{ o: { k: 1, z: 1 } }],
  [{ o: {} }],
  [{ o: { k: null } }],
  [{ o: { k: 1, when: "soon" } }],
  [{ list: [] }],
  [{ list: ["a", "b", "c"] }],
  [{ list: ["abcd"] }],
  [{ list: [1] }],
  [{ grid: [2, 1] }],
  [{ grid: [{ a: 1 }] }],
  [{ link: "mailto:a@b" }],
  [{ link: "http://u:p@x/" }],
  [{ count: 1.5 }],
])("%j does not match, and is not charged", async (output) => {
  const { status, text, body, charged } = await predict(output);
  expect(status, text).toBe(502);
  expect(body.detail).toMatchObject([{ type: "downstream_service_error", loc: ["body"] }]);
  expect(charged).toBe(0);
});

test("the owner learns which part of an output is invalid, and why", async () => {
  const { body } = await predict({ o: { k: 1, when: "soon" } });
  expect(body.detail[0].msg).toMatch(/invalid value for its output field o\.when: Input should be an ISO 8601 date/);
});
