import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

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
let authorization: string | undefined;
const cog = createServer((request, response) => {
  request.resume();
  authorization = request.headers.authorization;
  response.setHeader("content-type", "application/json");
  if (request.url === "/openapi.json") return void response.end(JSON.stringify(schema));
  if (request.url === "/absent/openapi.json") return void response.writeHead(404).end("{}");
  if (request.url === "/page/openapi.json") return void response.end("<html>");
  if (request.url === "/other/openapi.json") return void response.end('{"openapi":"3.0.2"}');
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

test("a manifest without schemas gets them from the Cog container, and the model runs", async () => {
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

test("the schemas are read with the secret of the model's owner, also for an admin", async () => {
  const key = await gantry.newUser("bob");
  for (const [who, value] of [
    [key, "of-bob"],
    [gantry.adminKey, "of-admin"],
  ] as const) {
    expect((await gantry.call("PUT", "/api/v2/secrets/lock", { json: { value }, key: who })).status).toBe(201);
  }
  const json = { ...manifest(address()), backend: { type: "cog", url: address(), secret: "lock" } };
  const put = await gantry.call("PUT", "/api/v1/bob/locked", { json });
  expect(put.status, put.text).toBe(201);
  expect(authorization).toBe("Bearer of-bob");
});

test("a manifest that no request can satisfy is refused", async () => {
  const text = { type: "string" };
  const inputs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, text]));
  const put = (count: number) =>
    gantry.call("PUT", "/api/v1/admin/wide", {
      json: {
        ...manifest(address()),
        input: { type: "object", properties: inputs(count), required: Object.keys(inputs(count)) },
        output: { type: "object", properties: { output: text } },
      },
    });
  const refused = await put(31);
  expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ["body", "input", "required"]]);
  expect((await put(30)).status).toBe(201);
  const run = await gantry.call("POST", "/api/v1/admin/wide/predict", {
    form: { ...Object.fromEntries(Object.keys(inputs(30)).map((name) => [name, "x"])), user: "u", webhook: "{}" },
  });
  expect(run.body.detail?.[0]?.type).not.toBe("too_many_fields");
});

test.each([
  ["refuses the connection", () => "http://127.0.0.1:9", /the connection was refused$/],
  ["has an unknown name", () => "http://no-such-host.invalid", /its name (does not exist|could not be looked up)$/],
  ["knows no schemas", () => `${address()}/absent`, /does not have this model or address \(status 404\)/],
  ["speaks no JSON", () => `${address()}/page`, /did not answer with JSON\.$/],
  ["describes something else", () => `${address()}/other`, /The document does not describe a Cog model\.$/],
])("a container that %s is reported at its field with the reason", async (_how, urlOf, reason) => {
  const put = await gantry.call("PUT", "/api/v1/admin/silent", { json: manifest(urlOf()) });
  expect(put.status).toBe(422);
  expect(put.body.detail[0]).toMatchObject({
    type: "file_download_error",
    loc: ["body", "backend", "url"],
    msg: expect.stringMatching(reason),
  });
});
