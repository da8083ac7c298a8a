import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { imageToImage, textToImage } from "../../../src/engines/models/comfyui/workflow.fixture.ts";
import { manifestOfWorkflow } from "../../../src/engines/models/comfyui/workflows.ts";
import { png } from "../../../src/engines/models/media/backend.contract.ts";
import { type ComfyServer, startComfyui } from "../../../src/engines/models/test-upstreams/comfyui-server.ts";
import { type Answer, type GantryNode, startGantry } from "../../support/gantry.ts";
import { createModels, object, text } from "../../support/models.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let comfy: ComfyServer;
const key = "the key of the proxy";
const image = { type: "string", format: "binary", "x-media": "image" };

const manifest = (change: object = {}, backend: object = {}) => ({
  kind: "image",
  capacity: 4,
  timeout_seconds: 30,
  pricing: { per_second: 1 },
  input: object({ prompt: text, seed: { type: ["integer", "null"] } }, ["prompt"]),
  output: object({ image }),
  backend: {
    type: "comfyui",
    url: comfy.url,
    secret: "comfy",
    workflow: textToImage,
    inputs: { prompt: "6.text", seed: "3.seed" },
    outputs: { image: "9" },
    ...backend,
  },
  ...change,
});

beforeAll(async () => {
  gantry = await startGantry();
  comfy = await startComfyui(key);
  await gantry.call("PUT", "/api/v2/secrets/comfy", { json: { value: key } });
  const found = manifestOfWorkflow(imageToImage);
  await createModels(gantry, {
    comfy: manifest(),
    imported: { ...found, backend: { ...found?.backend, url: comfy.url, secret: "comfy" } },
  });
});
afterAll(async () => {
  await gantry.close();
  await comfy.close();
});
beforeEach(() => {
  Object.assign(comfy, { runMs: 0, batch: 1 });
  comfy.made.bytes = png;
});

const route = "/api/v1/admin/comfy/predict";
const newest = async () => (await gantry.call("GET", "/api/v2/usage")).body.results[0];
const ended = (id: string) => waitFor("the end", async () => (await newest())?.request_id === id);

describe("predictions", () => {
  test("/predict answers with the file", async () => {
    const { status, body, text: whole } = await gantry.call("POST", route, { form: { prompt: "a boat" } });
    expect(status, whole).toBe(200);
    const file = await fetch(body.files.image.url);
    expect(file.headers.get("content-type")).toBe("image/png");
    expect(Buffer.from(await file.arrayBuffer()).equals(png)).toBe(true);
    expect(comfy.ran.at(-1)?.nodes["6"]?.inputs.text).toBe("a boat");
  });

  test("a model made from a workflow takes files", async () => {
    const form = { prompt: "redraw", image: new Blob([await largerPng()], { type: "image/png" }), steps: "4" };
    const { status, body, text: whole } = await gantry.call("POST", "/api/v1/admin/imported/predict", { form });
    expect(status, whole).toBe(200);
    expect(body.output_data.image).toMatch(/^s3:/);
    const { nodes } = comfy.ran.at(-1) ?? {};
    expect(comfy.files.has(String(nodes?.["10"]?.inputs.image))).toBe(true);
    expect(nodes?.["3"]?.inputs).toMatchObject({ steps: 4, cfg: 7.5 });
  });

  test("all files of a node are a list, each with its link", async () => {
    const output = object({ images: { type: "array", items: image, maxItems: 4 } });
    await createModels(gantry, { listed: manifest({ output }, { outputs: { images: "9" } }) });
    comfy.batch = 2;
    const {
      status,
      body,
      text: whole,
    } = await gantry.call("POST", "/api/v1/admin/listed/predict", {
      form: { prompt: "two boats" },
    });
    expect(status, whole).toBe(200);
    expect(body.output_data.images).toHaveLength(2);
    expect(Object.keys(body.files)).toEqual(["images.0", "images.1"]);
    const second = await fetch(body.files["images.1"].url);
    expect(Buffer.from(await second.arrayBuffer()).equals(png)).toBe(true);
  });

  test("an invalid value is a 422 that names the input", async () => {
    const { status, body } = await gantry.call("POST", route, { form: { prompt: "a", seed: "-1" } });
    expect(status).toBe(422);
    expect(body.detail).toMatchObject([{ loc: ["body", "seed"], type: "greater_than_equal", ctx: { ge: 0 } }]);
    expect((await newest()).price).toBe(0);
  });

  test("time in the queue of other clients is not charged", async () => {
    comfy.runMs = 1500;
    comfy.addForeign({ ...textToImage, "6": { class_type: "CLIPTextEncode", inputs: { text: "x", clip: ["4", 1] } } });
    const startedAt = performance.now();
    const { body } = await gantry.call("POST", route, { form: { prompt: "a lake" } });
    expect(performance.now() - startedAt).toBeGreaterThan(2900);
    expect(body.inference_time).toBeGreaterThan(1.45);
    expect(body.inference_time).toBeLessThan(2.2);
    expect((await newest()).price).toBeCloseTo(body.inference_time, 2);
  });

  test("/predict/async is cancelled at the server, and its wait costs nothing", async () => {
    comfy.runMs = 20_000;
    const start = async () => (await gantry.call("POST", `${route}/async/`, { form: { prompt: "slow" } })).body;
    const running = await start();
    await waitFor("the run", () => comfy.running?.nodes["6"]?.inputs.text === "slow");
    const waiting = await start();
    await waitFor("the queue", () => comfy.waiting.length === 1);
    const asked = comfy.seen.length;
    await waitFor("the next poll", () => comfy.seen.slice(asked).some(({ path }) => path === "/queue"));
    await gantry.call("POST", `${route}/cancel/`, { json: { prediction_id: waiting.prediction_id } });
    await ended(waiting.prediction_id);
    expect(await newest()).toMatchObject({ status: 499, price: 0 });
    await waitFor("the queue to be empty", () => comfy.waiting.length === 0);
    expect(comfy.interrupted).toEqual([]);
    const id = comfy.running?.id;
    await gantry.call("POST", `${route}/cancel/`, { json: { prediction_id: running.prediction_id } });
    await ended(running.prediction_id);
    await waitFor("the interrupt", () => comfy.interrupted.length === 1);
    expect(comfy.interrupted).toEqual([id]);
    expect((await newest()).price).toBeGreaterThan(0);
  });

  test("a client that leaves stops the run", async () => {
    comfy.runMs = 20_000;
    comfy.interrupted.length = 0;
    const leaving = new AbortController();
    const asked = gantry.fetch("POST", route, { form: { prompt: "leaving" }, signal: leaving.signal });
    await waitFor("the run", () => comfy.running?.nodes["6"]?.inputs.text === "leaving");
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await waitFor("the interrupt", () => comfy.interrupted.length === 1);
  });

  test("a server that dies in mid-run is a 503 that costs nothing", async () => {
    const doomed = await startComfyui(key);
    await createModels(gantry, { doomed: manifest({}, { url: doomed.url }) });
    doomed.runMs = 60_000;
    const asked = gantry.call("POST", "/api/v1/admin/doomed/predict", { form: { prompt: "x" } });
    await waitFor("the run", () => doomed.running !== undefined);
    await doomed.close();
    const { status, headers } = await asked;
    expect(status).toBe(503);
    expect(headers.get("x-service-retryable")).toBe("true");
    expect((await newest()).price).toBe(0);
  });
});

describe("a manifest", () => {
  const put = (json: object) => gantry.call("PUT", "/api/v1/admin/wrong", { json });
  const faults = ({ status, body, text: whole }: Answer): Record<string, string> => {
    expect(status, whole).toBe(422);
    return Object.fromEntries(body.detail.map(({ loc, msg }: { loc: string[]; msg: string }) => [loc.join("."), msg]));
  };

  test("with the editor's format is refused with what to do", async () => {
    const workflow = {
      last_node_id: 9,
      nodes: [{ id: 3, type: "KSampler" }],
      links: [[1, 4, 0, 3, 0, "MODEL"]],
      version: 0.4,
    };
    expect(faults(await put(manifest({}, { workflow })))).toEqual({
      "body.backend.workflow": expect.stringContaining("Workflow > Export (API)"),
    });
  });

  test.each([
    ["no node", {}, "body.backend.workflow", "API format"],
    ["a wrapped workflow", { prompt: textToImage }, "body.backend.workflow", "API format"],
    ["a node without inputs", { ...textToImage, "5": { class_type: "X" } }, "body.backend.workflow.5", "class_type"],
    [
      "a link to nowhere",
      { ...textToImage, "8": { class_type: "VAEDecode", inputs: { samples: ["99", 0] } } },
      "body.backend.workflow.8.inputs.samples",
      "Links to node 99",
    ],
  ])("is refused: %s", async (_name, workflow, place, message) => {
    expect(faults(await put(manifest({}, { workflow })))).toEqual({ [place]: expect.stringContaining(message) });
  });

  test("is refused with every binding that would have no effect", async () => {
    const inputs = { prompt: ["6.txt", "7"], other: "3.seed", seed: "33.seed" };
    const input = object({ prompt: text, seed: { type: "integer" }, size: text }, ["prompt"]);
    expect(faults(await put(manifest({ input }, { inputs, outputs: { image: "10", video: "9" } })))).toEqual({
      "body.backend.inputs.prompt.0": expect.stringContaining("has no field txt. Its fields: text, clip"),
      "body.backend.inputs.prompt.1": expect.stringContaining("Must be the id of a node, a dot"),
      "body.backend.inputs.seed": expect.stringContaining("no node 33. Its nodes: 3, 4, 5"),
      "body.backend.inputs.other": "The input has no field of this name",
      "body.input.properties.size": "Would have no effect. Bind it to a field: backend.inputs.size",
      "body.backend.outputs.image": expect.stringContaining("no node 10"),
      "body.backend.outputs.video": "The output has no field of this name",
    });
    const twice = { prompt: "6.text", seed: "6.text" };
    expect(faults(await put(manifest({}, { inputs: twice })))).toEqual({
      "body.backend.inputs.seed": "Already bound to the input prompt",
    });
    const mask = { prompt: "6.text#mask", seed: "3.seed" };
    expect(faults(await put(manifest({}, { inputs: mask })))).toEqual({
      "body.backend.inputs.prompt": "Only a file can be a mask",
    });
  });

  test("needs a workflow, which other backends refuse", async () => {
    const { workflow, ...rest } = manifest().backend;
    expect(faults(await put(manifest({ backend: { ...rest, model: "sdxl" } })))).toEqual({
      "body.backend.workflow": "Field required",
      "body.backend.model": "A comfyui backend has no model",
    });
    const cog = { type: "cog", url: comfy.url, workflow };
    expect(faults(await put(manifest({ backend: cog })))).toEqual({
      "body.backend.workflow": "A cog backend has no workflow",
    });
  });

  test("shows its workflow to the owner alone", async () => {
    await gantry.call("PATCH", "/api/v1/admin/comfy", { json: { visibility: "public" } });
    const other = await gantry.newUser("viewer");
    const card = await gantry.call("GET", "/api/v1/admin/comfy", { key: other });
    expect(card.status).toBe(200);
    expect(card.text).not.toContain("KSampler");
    expect((await gantry.call("GET", "/api/v1/admin/comfy")).body.backend.workflow).toEqual(textToImage);
  });
});

/** Inputs must have 14 pixels a side. */
async function largerPng(): Promise<Uint8Array<ArrayBuffer>> {
  const { default: sharp } = await import("sharp");
  const bytes = await sharp({ create: { width: 32, height: 32, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  return new Uint8Array(bytes);
}
