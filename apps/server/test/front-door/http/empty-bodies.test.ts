import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;

beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.close());

const empty = (method: string, path: string) =>
  gantry.call(method, path, { headers: { "content-type": "application/json" } });

test("routes without a body accept an empty body of type JSON", async () => {
  const text = { type: "string" };
  const json = {
    title: "Passing",
    kind: "other",
    input: { type: "object", properties: { prompt: text } },
    output: { type: "object", properties: { output: text } },
    backend: { type: "cog", url: "http://127.0.0.1:9/" },
  };
  expect((await gantry.call("PUT", "/api/v1/admin/passing", { json })).status).toBe(201);
  await gantry.call("PUT", "/api/v2/secrets/passing", { json: { value: "x" } });
  await gantry.call("PUT", "/api/v2/admin/plans/passing", { json: { requests_per_minute: 1, parallel: 1 } });
  const { id } = (await gantry.call("POST", "/api/v2/keys", { json: {} })).body;
  const answers: Record<string, number> = {};
  for (const route of [
    "POST /api/v2/webhooks/secret/rotate",
    "POST /api/v2/webhooks/deliveries/dlv_none/resend",
    "DELETE /api/v1/admin/passing",
    "DELETE /api/v2/secrets/passing",
    "DELETE /api/v2/admin/plans/passing",
    `POST /api/v2/keys/${id}/rotate`,
    `DELETE /api/v2/keys/${id}`,
  ]) {
    const [method = "", path = ""] = route.split(" ");
    answers[route] = (await empty(method, path)).status;
  }
  expect(Object.values(answers), JSON.stringify(answers)).toEqual([200, 404, 204, 204, 204, 200, 204]);
});

test("routes with a body report the missing field", async () => {
  for (const [path, loc] of [
    ["/api/v2/secrets/none", ["body"]],
    ["/api/v2/admin/plans/none", ["body", "requests_per_minute"]],
    ["/api/v1/admin/none", ["body"]],
  ] as const) {
    const refused = await empty("PUT", path);
    expect(refused.status, refused.text).toBe(422);
    expect(refused.body.detail[0].loc).toEqual(loc);
  }
});
