import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";

/** A backend that needs `prompt` needs a manifest with that field. */
let gantry: GantryNode;
let llm: ScriptedLlm;

beforeAll(async () => {
  llm = await startScriptedLlm();
  llm.script = () => ({ text: "said", usage: { in: 1, out: 1 } });
  gantry = await startGantry();
});
afterAll(async () => {
  await gantry.close();
  await llm.close();
});

const text = { type: "string" };
const image = { type: "string", format: "binary", "x-media": "image" };
const inputs = (properties: object, required: string[] = []) => ({ type: "object", properties, required });
const chat = () => ({ type: "openai-chat", url: llm.url, model: "m" });
const manifest = (input: object, backend: object = chat()) => ({
  ...{ kind: "other", capacity: 4, input, backend },
  output: { type: "object", properties: { output: text } },
});
const put = (name: string, json: object) => gantry.call("PUT", `/api/v1/admin/${name}`, { json });
const faults = ({ body }: { body: { detail: { loc: string[]; type: string }[] } }) =>
  body.detail.map(({ loc, type }) => `${loc.slice(1).join(".")} ${type}`);
const at = "input.properties.prompt";

describe("a manifest is refused", () => {
  test.each<[string, object, string[]]>([
    ["without the field", inputs({ a: text }, ["a"]), [`${at} missing`]],
    ["with no field at all", inputs({}), [`${at} missing`]],
    ["where it may be left out", inputs({ prompt: text }), [`${at} value_error`]],
    ["where it may be left out and a picture too", inputs({ prompt: text, image }), [`${at} value_error`]],
    ["where its default says nothing", inputs({ prompt: { ...text, default: "" } }), [`${at} value_error`]],
    ["where its default is blank", inputs({ prompt: { ...text, default: " \n" } }), [`${at} value_error`]],
    ["where it may be null", inputs({ prompt: { type: ["string", "null"] } }, ["prompt"]), [`${at} value_error`]],
    ["where it is not a string", inputs({ prompt: { type: "integer" } }, ["prompt"]), [`${at} value_error`]],
    ["beside its other faults", inputs({ a: {} }), ["input.properties.a.type missing", `${at} missing`]],
  ])("%s", async (_, input, expected) => {
    for (const backend of [chat(), { type: "anthropic", model: "m" }, { type: "google", model: "m" }]) {
      const answer = await put("refused", manifest(input, backend));
      expect([answer.status, faults(answer)], answer.text).toEqual([422, expected]);
    }
  });

  test("for built-in models too", async () => {
    for (const model of ["rules", "image"]) {
      const answer = await put("refused", manifest(inputs({ a: text }), { type: "builtin", model }));
      expect([answer.status, faults(answer)], answer.text).toEqual([422, [`${at} missing`]]);
    }
  });
});

test.each([
  ["a required prompt", inputs({ prompt: text }, ["prompt"])],
  ["a prompt with a default", inputs({ prompt: { ...text, default: "Hello" } })],
  ["a prompt that may be null, for its default", inputs({ prompt: { type: ["string", "null"], default: "Hello" } })],
  ["a picture that every call brings", inputs({ prompt: text, image }, ["image"])],
])("a manifest is accepted with %s", async (_, input) => {
  const answer = await put("taken", manifest(input));
  expect([200, 201], answer.text).toContain(answer.status);
});

test("a patch that introduces the fault is refused", async () => {
  expect((await put("other", manifest(inputs({ a: text }), { type: "cog", url: llm.url }))).status).toBe(201);
  const patched = await gantry.call("PATCH", "/api/v1/admin/other", { json: { backend: chat() } });
  expect([patched.status, faults(patched)]).toEqual([422, [`${at} missing`]]);
});

describe("a call without a prompt", () => {
  const spent = async () => (await gantry.call("GET", "/api/v2/usage")).body.total_count;
  const ways = ["predict", "predict/stream/", "predict/async/"];

  test.each([
    ["of a model upstream", () => chat()],
    ["of the one inside the server", () => ({ type: "builtin", model: "rules" })],
  ])("%s is refused before acceptance on every route", async (_, backend) => {
    const properties = { prompt: text, image: { ...image, type: ["string", "null"] } };
    const made = await put("asked", manifest(inputs(properties, ["prompt"]), backend()));
    expect([200, 201], made.text).toContain(made.status);
    const before = [await spent(), llm.requests.length];
    for (const way of ways) {
      for (const prompt of ["", " \t\n\u00a0"]) {
        const answer = await gantry.call("POST", `/api/v1/admin/asked/${way}`, { form: { prompt } });
        expect([answer.status, faults(answer)], answer.text).toEqual([422, ["prompt missing"]]);
      }
    }
    expect([await spent(), llm.requests.length]).toEqual(before);
  });

  test("may use a picture instead, and only its faults are reported", async () => {
    const made = await put("seeing", manifest(inputs({ prompt: text, image }, ["prompt", "image"])));
    expect([200, 201], made.text).toContain(made.status);
    const call = (file: Blob) =>
      gantry.call("POST", "/api/v1/admin/seeing/predict", { form: { prompt: " ", image: file } });
    const wrong = await call(new Blob(["no picture"]));
    expect([wrong.status, faults(wrong)], wrong.text).toEqual([422, ["image invalid_image_format"]]);
    const pixels = { width: 20, height: 20, channels: 3 as const, background: "red" };
    const png = await sharp({ create: pixels }).png().toBuffer();
    const right = await call(new Blob([new Uint8Array(png)]));
    expect(right.status, right.text).toBe(200);
    expect(JSON.stringify(llm.requests.at(-1))).not.toContain('"text":" "');
  });

  test("of the painter draws a default picture", async () => {
    const form = { prompt: "", size: "1280x720", optimize_prompt_mode: "fast" };
    expect((await gantry.call("POST", "/api/v1/gantry/image/predict", { form })).status).toBe(200);
  });
});

describe("a model stored under an earlier rule", () => {
  async function stored(name: string, properties: object): Promise<void> {
    expect((await put(name, manifest(inputs({ prompt: text }, ["prompt"])))).status).toBe(201);
    const older = JSON.stringify(inputs(properties));
    await gantry.database.sql`
      update models set manifest = jsonb_set(manifest::jsonb, '{input}', ${older}::text::jsonb)::json
      where name = ${name}`;
    // Makes the server read it again.
    const patched = await gantry.call("PATCH", `/api/v1/admin/${name}`, { json: { title: "Older" } });
    expect(patched.status, patched.text).toBe(200);
  }
  const predict = (name: string, form: Record<string, string | Blob>) =>
    gantry.call("POST", `/api/v1/admin/${name}/predict`, { form });

  test("can be patched, and its calls blame the manifest for the missing prompt", async () => {
    await stored("speechless", { a: text, image });
    const answer = await predict("speechless", { a: "x" });
    expect([answer.status, answer.body.detail], answer.text).toEqual([
      502,
      [expect.objectContaining({ loc: ["body"], type: "downstream_service_error" })],
    ]);
    expect(answer.body.detail[0].msg).toMatch(/manifest has no input named prompt/);
  });

  test("names the field that the caller omitted and could have sent", async () => {
    await stored("optional", { prompt: text });
    const answer = await predict("optional", {});
    expect(answer.body.detail, answer.text).toMatchObject([{ loc: ["body", "prompt"], type: "missing" }]);
    expect((await predict("optional", { prompt: "Hello" })).status).toBe(200);
  });
});
