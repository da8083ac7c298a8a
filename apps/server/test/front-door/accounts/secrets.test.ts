import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
const seen: (string | undefined)[] = [];
const upstream = createServer((request, response) => {
  seen.push(request.headers.authorization);
  request.resume();
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ status: "succeeded", output: "made" }));
});
const secret = "sk-upstream-very-secret-value";

beforeAll(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  gantry = await startGantry();
});
afterAll(async () => {
  await gantry.close();
  upstream.close();
});

test("a secret is stored, listed by name, changed and removed, and never returned", async () => {
  const put = await gantry.call("PUT", "/api/v2/secrets/openai", { json: { value: secret } });
  expect(put.status).toBe(201);
  expect(put.body).toEqual({ name: "openai", created_at: expect.any(String), updated_at: expect.any(String) });
  expect((await gantry.call("PUT", "/api/v2/secrets/openai", { json: { value: secret } })).status).toBe(200);
  const list = await gantry.call("GET", "/api/v2/secrets");
  expect(list.body).toMatchObject({ results: [{ name: "openai" }], page: 1, total_count: 1, total_pages: 1 });
  const rows = await gantry.database.sql<{ sealed: Uint8Array }[]>`select sealed from secrets`;
  expect(Buffer.from(rows[0]?.sealed ?? []).toString("latin1")).not.toContain(secret);
  expect(put.text + list.text + gantry.logged()).not.toContain(secret);
  expect((await gantry.call("GET", "/api/v2/secrets/openai")).status).toBe(405);
  expect((await gantry.call("DELETE", "/api/v2/secrets/openai")).status).toBe(204);
  expect((await gantry.call("DELETE", "/api/v2/secrets/openai")).status).toBe(404);
});

test("invalid bodies and names are 422, no key 401, a confined key 403, other users' are hidden", async () => {
  expect((await gantry.call("PUT", "/api/v2/secrets/a%20b", { json: { value: "x" } })).status).toBe(422);
  expect((await gantry.call("PUT", "/api/v2/secrets/ok", { json: { value: "" } })).status).toBe(422);
  expect((await gantry.call("PUT", "/api/v2/secrets/ok", { json: {} })).body.detail[0]).toMatchObject({
    type: "missing",
  });
  for (const value of ["sk-1\n", "   ", " sk-1", "a\0b", "schl\u00fcssel"]) {
    const answer = await gantry.call("PUT", "/api/v2/secrets/ok", { json: { value } });
    expect([answer.status, answer.body.detail[0].loc], value).toEqual([422, ["body", "value"]]);
  }
  expect((await gantry.call("GET", "/api/v2/secrets", { key: "" })).status).toBe(401);
  expect((await gantry.call("GET", "/api/v2/secrets?page=0")).status).toBe(422);
  const confined = await gantry.newUser("confined", { key: { models: ["gantry/text"] } });
  expect((await gantry.call("PUT", "/api/v2/secrets/ok", { json: { value: "x" }, key: confined })).status).toBe(403);
  await gantry.call("PUT", "/api/v2/secrets/mine", { json: { value: "x" } });
  const other = await gantry.newUser("other");
  expect((await gantry.call("GET", "/api/v2/secrets", { key: other })).body.total_count).toBe(0);
  expect((await gantry.call("DELETE", "/api/v2/secrets/mine", { key: other })).status).toBe(404);
});

test("a model sends its owner's secret upstream; if missing, only its owner learns its name", async () => {
  const text = { type: "string" };
  await gantry.call("PUT", "/api/v1/admin/keyed", {
    json: {
      description: "Needs a key.",
      kind: "other",
      visibility: "public",
      input: { type: "object", properties: { prompt: text } },
      output: { type: "object", properties: { output: text } },
      backend: { type: "cog", url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`, secret: "cogkey" },
    },
  });
  const caller = await gantry.newUser("caller");
  const predict = () => gantry.call("POST", "/api/v1/admin/keyed/predict", { form: { prompt: "x" }, key: caller });
  const missing = await predict();
  expect(missing.status).toBe(502);
  expect(missing.text).not.toContain("cogkey");
  const asOwner = await gantry.call("POST", "/api/v1/admin/keyed/predict", { form: { prompt: "x" } });
  expect([asOwner.status, asOwner.body.detail[0].type]).toEqual([502, "downstream_service_error"]);
  expect(asOwner.body.detail[0].msg).toBe(
    'The secret "cogkey" named in the manifest does not exist. Store it with PUT /api/v2/secrets/cogkey.',
  );
  await gantry.call("PUT", "/api/v2/secrets/cogkey", { json: { value: secret } });
  const made = await predict();
  expect(made.status, made.text).toBe(200);
  expect(seen.at(-1)).toBe(`Bearer ${secret}`);
  const card = await gantry.call("GET", "/api/v1/admin/keyed", { key: caller });
  expect(card.text).not.toContain("cogkey");
});
