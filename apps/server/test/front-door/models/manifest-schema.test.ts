import { readdir, readFile } from "node:fs/promises";
import { Ajv, type ValidateFunction } from "ajv";
import { afterAll, beforeAll, expect, test } from "vitest";
import { imageManifest } from "../../../src/engines/models/builtin/image-manifest.ts";
import { rulesManifest, textManifest } from "../../../src/engines/models/builtin/text-manifests.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

const address = "/docs/manifest.schema.json";
const folder = new URL("../../../../../examples/models/", import.meta.url);

let gantry: GantryNode;
let accepts: ValidateFunction;

beforeAll(async () => {
  gantry = await startGantry();
  const { text } = await gantry.call("GET", address, { key: "" });
  // Strict, like some editors.
  accepts = new Ajv({ strict: true, allErrors: true }).compile(JSON.parse(text));
});
afterAll(() => gantry.close());

const chat = {
  kind: "text",
  input: { type: "object", required: ["prompt"], properties: { prompt: { type: "string" } } },
  output: { type: "object", properties: { text: { type: "string", isStream: true } } },
  backend: { type: "openai-chat", url: "https://llm.example.com/v1", model: "m" },
};

test("an editor loads it without a key, and the root links to it", async () => {
  const answer = await gantry.call("GET", address, { key: "" });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/schema+json; charset=utf-8"]);
  expect(JSON.parse(answer.text).$id).toBe(gantry.url + address);
  expect((await gantry.call("GET", "/")).text).toContain(address);
});

test("it accepts the built-in manifests and all examples, which reference it", async () => {
  for (const file of await readdir(folder)) {
    const manifest = JSON.parse(await readFile(new URL(file, folder), "utf8"));
    expect(manifest.$schema, file).toBe(`http://127.0.0.1:8080${address}`);
    expect(accepts(manifest) ? [] : accepts.errors, file).toEqual([]);
  }
  for (const manifest of [imageManifest, textManifest, rulesManifest]) {
    expect(accepts(manifest) ? [] : accepts.errors, manifest.title).toEqual([]);
  }
});

const inputOf = (name: string, field: object) => ({
  input: { ...chat.input, properties: { ...chat.input.properties, [name]: field } },
});
const outputOf = (properties: object) => ({ kind: "other", output: { type: "object", properties } });
const text = { type: "string" };

test.each([
  ["a field that is unknown", { colour: "red" }],
  ["an unknown kind", { kind: "smell" }],
  ["no backend", { backend: undefined }],
  ["no input", { input: undefined }],
  ["a backend without what its protocol needs", { backend: { type: "openai-chat", model: "m" } }],
  ["a backend with what its protocol has not", { backend: { type: "builtin", model: "text", secret: "s" } }],
  ["an unsupported keyword", { input: { type: "object", properties: { a: { type: "string", pattern: "x" } } } }],
  ["an unknown type", { input: { type: "object", properties: { a: { type: "text" } } } }],
  ["a field without a type", inputOf("a", { title: "A" })],
  ["a streamed input", inputOf("a", { ...text, isStream: true })],
  ["a streamed part of a field", inputOf("a", { type: "array", items: { ...text, isStream: false } })],
  ["an output without fields", outputOf({})],
  ["more fields than there may be", outputOf(Object.fromEntries([...Array(101).keys()].map((n) => [`f${n}`, text])))],
  ["a name that is not a valid identifier", inputOf("é", text)],
  ["a name that every object has", outputOf({ constructor: text })],
  ["a name that the request has itself", inputOf("webhook", text)],
  ["a name that is the second spelling of another", inputOf("i_image", text)],
  ["a context window for a model without text", { kind: "other", context_window: 5 }],
  ["a price below zero", { pricing: { per_request: -1 } }],
])("it refuses %s, as the server does", async (_, change) => {
  const manifest = JSON.parse(JSON.stringify({ ...chat, ...change }));
  expect(accepts(manifest)).toBe(false);
  expect((await gantry.call("PUT", "/api/v1/admin/refused", { json: manifest })).status).toBe(422);
});

test("it accepts names and fields at the server's limits", async () => {
  const name = "_".padEnd(64, "a-0");
  const nested = { type: "object", properties: { é: { title: "Anything" } } };
  for (const change of [inputOf(name, nested), outputOf({ i_image: text, user: { type: ["string", "null"] } })]) {
    const manifest = { ...chat, ...change };
    expect(accepts(manifest) ? [] : accepts.errors).toEqual([]);
    const put = await gantry.call("PUT", "/api/v1/admin/edge", { json: manifest });
    expect([200, 201], put.text).toContain(put.status);
  }
});

test("$schema is accepted and not stored", async () => {
  const $schema = gantry.url + address;
  const put = await gantry.call("PUT", "/api/v1/admin/edited", { json: { $schema, ...chat } });
  expect(put.status, put.text).toBe(201);
  expect(put.body).not.toHaveProperty("$schema");
  const patch = await gantry.call("PATCH", "/api/v1/admin/edited", { json: { $schema, capacity: 7 } });
  expect([patch.status, patch.body.capacity], patch.text).toEqual([200, 7]);
  expect(patch.body).not.toHaveProperty("$schema");
  // Unchanged, so the version stays.
  const again = await gantry.call("PATCH", "/api/v1/admin/edited", { json: { $schema } });
  expect(again.body.version).toBe(patch.body.version);
  for (const [method, json] of [
    ["PUT", { $schema: 5, ...chat }],
    ["PATCH", { $schema: 5 }],
  ] as const) {
    const wrong = await gantry.call(method, "/api/v1/admin/edited", { json });
    expect([wrong.status, wrong.body.detail[0].loc], method).toEqual([422, ["body", "$schema"]]);
  }
  // The same for a model stored under an earlier rule, where a patch may leave the fault alone.
  await gantry.database.sql`
    update models set manifest = jsonb_set(manifest::jsonb, '{input,properties,prompt,minLength}', '"older"')::json
    where name = 'edited'`;
  const older = await gantry.call("PATCH", "/api/v1/admin/edited", { json: { $schema, capacity: 8 } });
  expect([older.status, older.body.capacity], older.text).toEqual([200, 8]);
  expect(older.body).not.toHaveProperty("$schema");
});
