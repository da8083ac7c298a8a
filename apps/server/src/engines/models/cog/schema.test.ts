import { manifestSchema } from "@gantry/wire";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createNet } from "../../net/create-net.ts";
import type { Net } from "../../net/net.ts";
import { faultOf } from "../media/backend.contract.ts";
import { jsonReply, type ScriptedServer, startScripted } from "../test-upstreams/scripted-server.ts";
import { fetchCogSchema, importCogSchema } from "./schema.ts";

/** As a diffusion model's container publishes it. */
const openapi = {
  openapi: "3.0.2",
  info: { title: "Cog", version: "0.1.0" },
  components: {
    schemas: {
      Input: {
        type: "object",
        title: "Input",
        required: ["prompt", "image"],
        properties: {
          steps: { type: "integer", title: "Steps", default: 50, minimum: 1, maximum: 500, "x-order": 2 },
          prompt: { type: "string", title: "Prompt", description: "What to paint", "x-order": 0 },
          image: { type: "string", title: "Image", format: "uri", "x-order": 1 },
          clip: { type: "string", format: "uri", description: "A driving video", nullable: true, "x-order": 5 },
          any: { type: "string", format: "uri", description: "Image or video", "x-order": 6 },
          scheduler: {
            allOf: [{ $ref: "#/components/schemas/scheduler" }],
            description: "Choose a scheduler",
            default: "K_EULER",
            "x-order": 3,
          },
          token: { type: "string", format: "password", writeOnly: true, "x-cog-secret": true, "x-order": 7 },
          extra: { anyOf: [{ type: "number", minimum: 0 }, { type: "null" }], title: "Extra", "x-order": 4 },
          loras: { type: "array", items: { type: "string", format: "uri" }, "x-order": 8 },
          style: { allOf: [{ $ref: "#/components/schemas/scheduler" }], "x-order": 9 },
        },
      },
      scheduler: { type: "string", title: "scheduler", description: "An enumeration.", enum: ["DDIM", "K_EULER"] },
      Output: { type: "array", title: "Output", items: { type: "string", format: "uri" } },
    },
  },
};

const withOutput = (Output: unknown, more: Record<string, unknown> = {}) =>
  importCogSchema({ components: { schemas: { Input: { type: "object", properties: {} }, Output, ...more } } }).output;

const manifestOf = (schemas: ReturnType<typeof importCogSchema>) =>
  manifestSchema.safeParse({ title: "t", kind: "other", backend: { type: "cog", url: "http://cog:5000" }, ...schemas });

it("reads the inputs in order", () => {
  const { input } = importCogSchema(openapi);
  expect(Object.keys(input.properties)).toEqual([
    "prompt",
    "image",
    "steps",
    "scheduler",
    "extra",
    "clip",
    "any",
    "token",
    "loras",
    "style",
  ]);
  expect(input.required).toEqual(["prompt", "image"]);
  expect(input.properties).toMatchObject({
    prompt: { type: "string", description: "What to paint" },
    image: { type: "string", format: "binary", "x-media": "image" },
    steps: { type: ["integer", "null"], default: 50, minimum: 1, maximum: 500 },
    scheduler: {
      type: ["string", "null"],
      enum: ["DDIM", "K_EULER"],
      default: "K_EULER",
      description: "Choose a scheduler",
    },
    extra: { type: ["number", "null"], minimum: 0 },
    clip: { type: ["string", "null"], format: "binary", "x-media": "video", default: null },
    any: { "x-media": "file" },
    token: { type: ["string", "null"], "x-cog-secret": true },
    loras: {
      type: ["array", "null"],
      items: { type: "string", format: "binary", "x-media": "file" },
      default: null,
    },
    style: { type: ["string", "null"], enum: ["DDIM", "K_EULER"] },
  });
});

it("does not repeat Python's text about enums", () => {
  expect(importCogSchema(openapi).input.properties.style).not.toHaveProperty("description");
});

it("produces schemas that a manifest accepts", () => {
  expect(manifestOf(importCogSchema(openapi)).error?.issues ?? []).toEqual([]);
});

it.each([
  [
    { type: "string", format: "uri" },
    { type: "string", format: "binary", "x-media": "file" },
  ],
  [
    { type: "array", items: { type: "string", format: "uri" } },
    { type: "array", items: { type: "string", format: "binary", "x-media": "file" } },
  ],
  [
    { type: "array", items: { type: "string", format: "uri" }, "x-cog-array-type": "iterator" },
    { type: "array", items: { type: "string", format: "binary", "x-media": "file" } },
  ],
  [
    { type: "array", items: { type: "string" }, "x-cog-array-type": "iterator", "x-cog-array-display": "concatenate" },
    { type: "string", isStream: true },
  ],
  [{ type: "array", items: { type: "string" }, "x-cog-array-display": "concatenate" }, { type: "string" }],
  [
    { type: "array", items: { type: "number" } },
    { type: "array", items: { type: "number" } },
  ],
  [{ type: "integer" }, { type: "integer" }],
  [{ $ref: "#/components/schemas/Text" }, { type: "string" }],
  [{ type: "object" }, { type: "object" }],
  [{ title: "Output" }, { title: "Output" }],
  [{}, {}],
])("reads the output %j", (given, expected) => {
  const output = withOutput(given, { Text: { type: "string" } });
  expect(output).toEqual({ type: "object", properties: { output: expected }, required: ["output"] });
  expect(manifestOf({ input: { type: "object", properties: {} }, output }).error?.issues ?? []).toEqual([]);
});

it("reads an output object by name", () => {
  const output = withOutput({
    type: "object",
    required: ["video"],
    properties: { video: { type: "string", format: "uri" }, seed: { type: "integer" } },
  });
  expect(output).toEqual({
    type: "object",
    required: ["video"],
    properties: {
      video: { type: "string", format: "binary", "x-media": "video" },
      seed: { type: ["integer", "null"] },
    },
  });
});

it("terminates on circular references", () => {
  const output = withOutput({ $ref: "#/components/schemas/A" }, { A: { $ref: "#/components/schemas/A" } });
  expect(output.properties.output).toEqual({});
});

let net: Net;
let upstream: ScriptedServer;
beforeEach(async () => {
  net = createNet({ allowPrivateNetwork: true });
  upstream = await startScripted(() => jsonReply(openapi));
});
afterEach(async () => {
  await net.close();
  await upstream.close();
});

it("fetches the document, retrying while the container starts", async () => {
  upstream.odd.call.push({ kind: "reply", reply: jsonReply({ error: "OpenAPI schema not available" }, 503) });
  expect(await fetchCogSchema(net, `${upstream.url}/`)).toEqual(importCogSchema(openapi));
  expect(upstream.seen.map((one) => [one.method, one.path])).toEqual([
    ["GET", "/openapi.json"],
    ["GET", "/openapi.json"],
  ]);
});

it("refuses a document that does not describe a Cog model", async () => {
  upstream.odd.call.push({ kind: "reply", reply: jsonReply({ openapi: "3.1.0", components: {} }) });
  expect((await faultOf(fetchCogSchema(net, upstream.url))).type).toBe("downstream_service_error");
});
