import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../support/gantry.ts";

let gantry: GantryNode;
const schema = {
  openapi: "3.0.2",
  components: {
    schemas: {
      Input: {
        type: "object",
        required: ["text"],
        properties: {
          text: { type: "string", title: "Text", "x-order": 0 },
          steps: { type: "integer", default: 4, minimum: 1, maximum: 9, "x-order": 1 },
        },
      },
      Output: { type: "string", title: "Output" },
    },
  },
};
const cog = createServer((request, response) => {
  request.resume();
  response.setHeader("content-type", "application/json");
  if (request.url === "/openapi.json") return void response.end(JSON.stringify(schema));
  response.end(JSON.stringify({ status: "succeeded", output: "made" }));
});
const address = () => `http://127.0.0.1:${(cog.address() as AddressInfo).port}`;

beforeAll(async () => {
  await new Promise<void>((resolve) => cog.listen(0, "127.0.0.1", resolve));
  gantry = await startGantry();
});
afterAll(async () => {
  await gantry.close();
  cog.close();
});

const manifest = (url: string) => ({ description: "Imported.", kind: "other", backend: { type: "cog", url } });

test("a manifest without schemas takes them from the Cog container, and the model runs", async () => {
  const put = await gantry.call("PUT", "/api/v1/admin/imported", { json: manifest(address()) });
  expect(put.status, put.text).toBe(201);
  expect(put.body.input.properties).toMatchObject({
    text: { type: "string" },
    steps: { default: 4, minimum: 1, maximum: 9 },
  });
  expect(put.body.output.properties).toHaveProperty("output");
  const run = await gantry.call("POST", "/api/v1/admin/imported/predict", { form: { text: "hello" } });
  expect(run.body.output_data).toEqual({ output: "made" });
  const wrong = await gantry.call("POST", "/api/v1/admin/imported/predict", { form: { text: "hello", steps: "99" } });
  expect(wrong.body.detail[0]).toMatchObject({ type: "less_than_equal", loc: ["body", "steps"] });
});

test("a container that does not answer is told at the field", async () => {
  const put = await gantry.call("PUT", "/api/v1/admin/silent", { json: manifest("http://127.0.0.1:9") });
  expect(put.status).toBe(422);
  expect(put.body.detail[0]).toMatchObject({ type: "file_download_error", loc: ["body", "backend", "url"] });
});
