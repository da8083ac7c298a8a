import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

/** Refused private addresses name the setting that allows them. */
let gantry: GantryNode;
const setting = "; the operator can allow it with GANTRY_ALLOW_PRIVATE_NETWORK=1";
const loopback = "http://127.0.0.1:9";

beforeAll(async () => {
  gantry = await startGantry({ env: { GANTRY_ALLOW_PRIVATE_NETWORK: "0" } });
});
afterAll(() => gantry.close());

test("a model call names it; the model itself is accepted", async () => {
  const text = { type: "string" };
  const put = await gantry.call("PUT", "/api/v1/admin/near", {
    json: {
      description: "Runs beside the server.",
      kind: "other",
      input: { type: "object", properties: { prompt: text } },
      output: { type: "object", properties: { output: text } },
      backend: { type: "cog", url: loopback },
    },
  });
  expect(put.status, put.text).toBe(201);
  const run = await gantry.call("POST", "/api/v1/admin/near/predict", { form: { prompt: "x" } });
  expect([run.status, run.body.detail[0].type]).toEqual([502, "downstream_service_error"]);
  expect(run.body.detail[0].msg).toContain(setting);
});

test("the import of a Cog container's schemas names it", async () => {
  const example = await readFile(new URL("../../../../../examples/models/cog.json", import.meta.url), "utf8");
  const { backend, ...manifest } = JSON.parse(example);
  const put = await gantry.call("PUT", "/api/v1/admin/cog", {
    json: { ...manifest, backend: { ...backend, url: loopback } },
  });
  expect(put.status).toBe(422);
  expect(put.body.detail[0].msg).toContain(setting);
});

test("a tool server's refusal names it", async () => {
  const json = { name: "near", url: `${loopback}/mcp`, connection_type: "sse" };
  const refused = await gantry.call("POST", "/v1/mcp-servers", { json });
  expect(refused.status, refused.text).toBe(400);
  expect(refused.text).toContain(setting);
});

test("the file of an input names it", async () => {
  const file = { type: "string", format: "binary", "x-media": "image" };
  const put = await gantry.call("PUT", "/api/v1/admin/sees", {
    json: {
      description: "Looks at pictures.",
      kind: "other",
      input: { type: "object", properties: { image: file }, required: ["image"] },
      output: { type: "object", properties: { output: { type: "string" } } },
      backend: { type: "cog", url: loopback },
    },
  });
  expect(put.status, put.text).toBe(201);
  const run = await gantry.call("POST", "/api/v1/admin/sees/predict", { form: { image: `${loopback}/a.png` } });
  expect(run.body.detail[0]).toMatchObject({ type: "file_download_error", msg: expect.stringContaining(setting) });
});
