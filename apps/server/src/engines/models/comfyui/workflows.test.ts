import { manifestSchema, type Workflow } from "@gantry/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNet } from "../../net/create-net.ts";
import type { Net } from "../../net/net.ts";
import { type ComfyServer, startComfyui } from "../test-upstreams/comfyui-server.ts";
import { imageToImage, textToImage } from "./workflow.fixture.ts";
import { listWorkflows, manifestOfWorkflow, objectInfoOf } from "./workflows.ts";

const url = "https://comfy.example";

/** The server would accept it. */
function imported(workflow: Workflow, info = {}) {
  const found = manifestOfWorkflow(workflow, info);
  if (!found) throw new Error("nothing was found");
  const whole = { ...found, backend: { ...found.backend, url } };
  expect(manifestSchema.safeParse(whole).error?.issues).toBeUndefined();
  return found;
}

const node = (class_type: string, inputs: Record<string, unknown>) => ({ class_type, inputs });

describe("the manifest of a workflow", () => {
  it("has the inputs that people change, without the last prompt", () => {
    const { title, kind, input, output, backend } = imported(textToImage);
    expect([title, kind]).toEqual(["sd_xl_base_1.0", "image"]);
    expect(backend.inputs).toEqual({
      prompt: "6.text",
      negative_prompt: "7.text",
      width: "5.width",
      height: "5.height",
      steps: "3.steps",
      cfg: "3.cfg",
      batch_size: "5.batch_size",
      seed: "3.seed",
    });
    expect(input.required).toEqual(["prompt"]);
    expect(input.properties).toMatchObject({
      negative_prompt: { default: "blurry" },
      width: { type: "integer", default: 512, minimum: 16, maximum: 2048 },
      height: { default: 768 },
      cfg: { type: "number", default: 7.5 },
      seed: { type: ["integer", "null"], default: null, maximum: 2 ** 32 - 1 },
    });
    expect(backend.workflow["6"]?.inputs.text).toBe("");
    expect(backend.workflow["3"]).not.toHaveProperty("_meta");
    expect(backend.outputs).toEqual({ image: "9", image_2: "9", image_3: "9", image_4: "9" });
    expect(output.required).toEqual(["image"]);
  });

  it("has the bounds of the nodes, and values of the workflow beyond ours", () => {
    const info = {
      KSampler: {
        input: { required: { seed: ["INT", { min: 0, max: 2 ** 64 }], steps: ["INT", { min: 3, max: 40 }] } },
      },
      EmptyLatentImage: {
        input: { required: { width: ["INT", { min: 64, max: 16384 }], batch_size: ["INT", { max: 2 }] } },
      },
    };
    const large = { ...textToImage, "5": node("EmptyLatentImage", { width: 4096, height: 8, batch_size: 1 }) };
    const { properties } = imported(large, info).input;
    expect(properties.seed?.maximum).toBe(Number.MAX_SAFE_INTEGER);
    expect(properties.steps).toMatchObject({ minimum: 3, maximum: 40 });
    expect(properties.width).toMatchObject({ minimum: 64, maximum: 4096 });
    expect(properties.height).toMatchObject({ minimum: 8, maximum: 2048 });
    expect(properties.batch_size).toMatchObject({ maximum: 2 });
  });

  it("takes files, and a mask where the workflow uses one", () => {
    const { input, backend } = imported(imageToImage);
    expect(input.required).toEqual(["prompt", "image"]);
    expect(input.properties.image).toMatchObject({ format: "binary", "x-media": "image" });
    expect(input.properties).not.toHaveProperty("mask");
    const inpaint = {
      ...imageToImage,
      "11": node("VAEEncodeForInpaint", { pixels: ["10", 0], vae: ["4", 2], mask: ["10", 1], grow_mask_by: 6 }),
      "12": node("LoadImage", { image: "style.png" }),
    };
    const masked = imported(inpaint);
    expect(masked.backend.inputs).toMatchObject({ image: "10.image", image_2: "12.image", mask: "10.image#mask" });
    expect(masked.input.required).toEqual(["prompt", "image", "image_2"]);
    const separate = { ...imageToImage, "13": node("LoadImageMask", { image: "m.png", channel: "red" }) };
    expect(imported(separate).backend.inputs).toMatchObject({ mask: "13.image" });
    expect(backend.inputs).not.toHaveProperty("mask");
  });

  it("follows guiders, ControlNets, emptied copies and nodes that hold a text", () => {
    const flux = {
      "1": node("UNETLoader", { unet_name: "flux/flux1-dev.safetensors" }),
      "2": node("PrimitiveStringMultiline", { value: "a cat" }),
      "3": node("CLIPTextEncodeFlux", { clip_l: ["2", 0], t5xxl: "a cat in detail", guidance: 3.5, clip: ["9", 0] }),
      "4": node("BasicGuider", { model: ["1", 0], conditioning: ["3", 0] }),
      "5": node("RandomNoise", { noise_seed: 4, control_after_generate: "randomize" }),
      "6": node("BasicScheduler", { scheduler: "simple", steps: 20, denoise: 1, model: ["1", 0] }),
      "7": node("SamplerCustomAdvanced", {
        noise: ["5", 0],
        guider: ["4", 0],
        sigmas: ["6", 0],
        latent_image: ["8", 0],
      }),
      "8": node("EmptySD3LatentImage", { width: 1024, height: 1024, batch_size: 1 }),
      "9": node("DualCLIPLoader", { clip_name1: "a", clip_name2: "b" }),
      "10": node("SaveImage", { images: ["7", 0], filename_prefix: "flux/portrait" }),
    };
    const found = imported(flux);
    expect(found.title).toBe("portrait");
    expect(found.backend.inputs).toEqual({
      prompt: ["2.value", "3.t5xxl"],
      width: "8.width",
      height: "8.height",
      steps: "6.steps",
      guidance: "3.guidance",
      batch_size: "8.batch_size",
      seed: "5.noise_seed",
    });
    const controlled = {
      ...textToImage,
      "3": node("KSampler", { ...textToImage["3"]?.inputs, positive: ["20", 0], negative: ["20", 1] }),
      "20": node("ControlNetApplyAdvanced", { positive: ["6", 0], negative: ["21", 0], strength: 1 }),
      "21": node("ConditioningZeroOut", { conditioning: ["6", 0] }),
    };
    const inputs = imported(controlled).backend.inputs;
    expect(inputs?.prompt).toBe("6.text");
    expect(inputs).not.toHaveProperty("negative_prompt");
  });

  it("is a video model for nodes that save videos", () => {
    const { "9": _save, ...rest } = textToImage;
    const video = {
      ...rest,
      "5": node("EmptyHunyuanLatentVideo", { width: 832, height: 480, length: 81, batch_size: 1 }),
      "14": node("CreateVideo", { images: ["8", 0], fps: 16 }),
      "15": node("SaveVideo", { video: ["14", 0], filename_prefix: "video/ComfyUI", format: "mp4", codec: "h264" }),
      "16": node("PreviewImage", { images: ["8", 0] }),
    };
    const found = imported(video);
    expect(found).toMatchObject({ kind: "video", timeout_seconds: 3600 });
    expect(found.backend.outputs).toEqual({ video: "15" });
    expect(found.backend.inputs).toMatchObject({ length: "5.length", fps: "14.fps" });
    expect(found.input.properties).not.toHaveProperty("batch_size");
    expect(found.output.properties.video).toMatchObject({ "x-media": "video" });
  });

  it("uses a preview if nothing is saved, and is nothing without any file", () => {
    const { "9": _save, ...rest } = textToImage;
    expect(imported({ ...rest, "1": node("PreviewImage", { images: ["8", 0] }) }).backend.outputs?.image).toBe("1");
    expect(manifestOfWorkflow({ ...rest, "1": node("SaveImageWebsocket", { images: ["8", 0] }) })).toBeUndefined();
    expect(manifestOfWorkflow(rest)).toBeUndefined();
  });

  it("leaves out a number that has different values, and ends in a loop", () => {
    const twice = { ...textToImage, "30": node("KSampler", { ...textToImage["3"]?.inputs, steps: 5, cfg: 7.5 }) };
    const { inputs } = imported(twice).backend;
    expect(inputs).not.toHaveProperty("steps");
    expect(inputs).toMatchObject({ cfg: ["3.cfg", "30.cfg"], seed: ["3.seed", "30.seed"] });
    const loop = {
      "1": node("KSampler", { positive: ["2", 0] }),
      "2": node("ConditioningCombine", { conditioning_1: ["3", 0], conditioning_2: ["2", 0] }),
      "3": node("ConditioningCombine", { conditioning_1: ["2", 0] }),
      "9": node("SaveImage", { images: ["1", 0] }),
    };
    expect(imported(loop).backend.inputs).toEqual({});
  });
});

describe("the workflows of a server", () => {
  let net: Net;
  let upstream: ComfyServer;
  beforeEach(async () => {
    net = createNet({ allowPrivateNetwork: true });
    upstream = await startComfyui("key");
  });
  afterEach(async () => {
    await net.close();
    await upstream.close();
  });
  const connection = () => ({ url: upstream.url, key: "key" });
  const signal = new AbortController().signal;
  const ran = async (workflow: Workflow) => {
    const id = upstream.addForeign(workflow);
    await expect.poll(() => upstream.history.has(id)).toBe(true);
  };

  it("are those that ran lately, each once, newest first", async () => {
    await ran(textToImage);
    await ran({ ...imageToImage, "9": node("SaveImage", { images: ["8", 0], filename_prefix: "redrawn" }) });
    await ran({ ...textToImage, "6": node("CLIPTextEncode", { text: "newer", clip: ["4", 1] }) });
    upstream.failure = { event: "execution_error", data: {} };
    await ran({ ...textToImage, "40": node("PreviewImage", { images: ["8", 0] }) });
    const found = await listWorkflows(net, connection(), signal);
    expect(found.map(({ title }) => title)).toEqual(["sd_xl_base_1.0", "redrawn"]);
    expect(found[0]?.workflow["6"]?.inputs.text).toBe("newer");
    expect(Math.abs(Date.parse(found[0]?.ranAt ?? "") - Date.now())).toBeLessThan(60_000);
    expect(found[0]?.id).toMatch(/^[0-9a-f]{16}$/);
    expect(found[0]?.id).not.toBe(found[1]?.id);
  });

  it("are fewer if the history is long, and none if it is nonsense", async () => {
    await ran(textToImage);
    upstream.odd.poll.push({ kind: "endless", piece: " ".repeat(65_536) });
    expect(await listWorkflows(net, connection(), signal)).toHaveLength(1);
    expect(upstream.seen.at(-1)?.path).toBe("/history?max_items=5");
    const reservedField = JSON.parse('{"9": {"class_type": "SaveImage", "inputs": {"__proto__": 1}}}');
    const reservedId = JSON.parse(
      JSON.stringify({ ...textToImage, proto: textToImage["9"] }).replace("proto", "__proto__"),
    );
    for (const entry of [
      null,
      5,
      {},
      { prompt: 1 },
      { prompt: [1, "a", { "1": 2 }] },
      { prompt: [1, "a", { nodes: [] }] },
      { prompt: [1, "a", reservedField] },
      { prompt: [1, "a", reservedId] },
    ]) {
      upstream.history.clear();
      upstream.history.set("a", entry);
      expect(await listWorkflows(net, connection(), signal)).toEqual([]);
    }
  });

  it("have bounds that the server states", async () => {
    const info = await objectInfoOf(net, connection(), textToImage, signal);
    expect(imported(textToImage, info).input.properties.steps).toMatchObject({ minimum: 1, maximum: 100 });
    expect(imported(textToImage, info).input.properties.seed?.maximum).toBe(Number.MAX_SAFE_INTEGER);
    expect(upstream.seen.every(({ path }) => path.startsWith("/object_info/"))).toBe(true);
  });
});
