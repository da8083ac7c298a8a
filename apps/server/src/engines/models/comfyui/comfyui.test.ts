import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ObjectSchema } from "@gantry/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNet } from "../../net/create-net.ts";
import type { Net } from "../../net/net.ts";
import type { FileOutput, InputValue, ModelCall } from "../driver.ts";
import { createMask } from "../mask.ts";
import {
  bytesOf,
  callWith,
  faultOf,
  fileInput,
  imageField,
  inputFields,
  mediaBackendContract,
  png,
  secret,
} from "../media/backend.contract.ts";
import { type ComfyServer, startComfyui } from "../test-upstreams/comfyui-server.ts";
import { readForm } from "../test-upstreams/read-form.ts";
import { jsonReply } from "../test-upstreams/scripted-server.ts";
import { createComfyui } from "./comfyui.ts";
import type { ComfyBackend } from "./prompt.ts";
import { imageToImage, textToImage } from "./workflow.fixture.ts";

const inputs = { prompt: "6.text", seed: "3.seed", image: "10.image" };

describe("comfyui", () => {
  mediaBackendContract({
    start: async (key) => {
      const server = await startComfyui(key);
      server.files.set("example.png", png);
      return server;
    },
    create: (options) =>
      createComfyui({
        ...options,
        input: inputFields,
        output: imageField,
        workflow: imageToImage,
        inputs,
        outputs: { image: "9" },
      }),
    forms: ["link"],
  });

  let net: Net;
  let upstream: ComfyServer;
  let spoolFolder: string;
  beforeEach(async () => {
    net = createNet({ allowPrivateNetwork: true });
    upstream = await startComfyui(secret);
    upstream.made.bytes = png;
    spoolFolder = await mkdtemp(join(tmpdir(), "gantry-spool-"));
  });
  afterEach(async () => {
    await net.close();
    await upstream.close();
    await rm(spoolFolder, { recursive: true });
  });

  const driver = (more: Partial<ComfyBackend> = {}) =>
    createComfyui({
      net,
      url: upstream.url,
      key: secret,
      mask: createMask([secret]),
      input: inputFields,
      output: imageField,
      spoolFolder,
      workflow: textToImage,
      inputs: { prompt: "6.text", seed: "3.seed" },
      outputs: { image: "9" },
      ...more,
    });
  const run = (
    input: Record<string, InputValue> = {},
    more: Partial<ComfyBackend> = {},
    call: Partial<ModelCall> = {},
  ) => driver(more).run(callWith({ prompt: "a boat", ...input }, call));
  const sent = () => upstream.ran.at(-1)?.nodes ?? {};
  const paths = () => upstream.seen.map(({ method, path }) => `${method} ${path.split("?")[0]}`);
  const reply = (value: unknown, status = 200) => ({ kind: "reply" as const, reply: jsonReply(value, status) });

  describe("the workflow", () => {
    it("gets the values, and keeps its own where an input is absent", async () => {
      const { output } = await run({ seed: 7 });
      expect((await bytesOf(output.image)).equals(png)).toBe(true);
      expect(sent()["6"]?.inputs).toEqual({ text: "a boat", clip: ["4", 1] });
      expect(sent()["3"]?.inputs).toMatchObject({ seed: 7, steps: 20, positive: ["6", 0] });
      const call = upstream.seen.find(({ kind }) => kind === "call");
      const { client_id: client, prompt_id: id } = JSON.parse(String(call?.body));
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
      expect(client).toBe(id);
      expect(textToImage["6"]?.inputs.text).toBe("a lake");
    });

    it("sets several fields from one input", async () => {
      await run({}, { inputs: { prompt: ["6.text", "7.text"] } });
      expect([sent()["6"]?.inputs.text, sent()["7"]?.inputs.text]).toEqual(["a boat", "a boat"]);
    });

    it("gets a random seed within the bounds of the input", async () => {
      const seeds = new Set<unknown>();
      for (let n = 0; n < 3; n++) {
        await run({ seed: null });
        seeds.add(sent()["3"]?.inputs.seed);
      }
      expect(seeds.size).toBe(3);
      for (const seed of seeds)
        expect(Number.isInteger(seed) && Number(seed) >= 0 && Number(seed) < 2 ** 32).toBe(true);
      const bounded = { ...inputFields.properties, seed: { type: ["integer", "null"], minimum: 4, maximum: 5 } };
      await run({}, { input: { ...inputFields, properties: bounded } });
      expect([4, 5]).toContain(sent()["3"]?.inputs.seed);
    });

    it("does not send a seed of 2^64, and nothing that only the editor uses", async () => {
      const { "3": sampler, ...rest } = textToImage;
      const seeded = { ...sampler?.inputs, seed: 2 ** 64, control_after_generate: "randomize" };
      await run(
        {},
        { inputs: { prompt: "6.text" }, workflow: { ...rest, "3": { class_type: "KSampler", inputs: seeded } } },
      );
      expect(sent()["3"]?.inputs.seed).toBe(2 ** 64 - 2048);
      expect(sent()["3"]?.inputs).not.toHaveProperty("control_after_generate");
      await run({ seed: 2 ** 64 });
      expect(sent()["3"]?.inputs.seed).toBe(2 ** 64 - 2048);
    });

    it.each([[["4", 0]], [{ __value__: ["4", 0] }]])("never takes an input for a link: %j", async (options) => {
      const refusal = await faultOf(run({ options }, { inputs: { prompt: "6.text", options: "7.text" } }));
      expect(refusal.issues).toMatchObject([{ type: "value_error", loc: ["body", "options"] }]);
      await run({ options: ["4", "0"] }, { inputs: { prompt: "6.text", options: "7.text" } });
      expect(sent()["7"]?.inputs.text).toEqual({ __value__: ["4", "0"] });
    });
  });

  describe("files", () => {
    it("are uploaded under a unique name into a folder of their own", async () => {
      for (let n = 0; n < 2; n++) await run({ image: fileInput(png) }, { workflow: imageToImage, inputs });
      const [first, second] = upstream.ran.map(({ nodes }) => String(nodes["10"]?.inputs.image));
      expect(first).toMatch(/^gantry\/[0-9a-f-]{36}\.png$/);
      expect(second).not.toBe(first);
      expect(upstream.files.get(first ?? "")?.equals(png)).toBe(true);
      const seen = upstream.seen.find(({ path }) => path === "/upload/image");
      expect(seen?.headers.authorization).toBe(`Bearer ${secret}`);
      const { fields, files } = await readForm(seen as NonNullable<typeof seen>);
      expect(fields).toEqual({ type: "input", subfolder: "gantry", overwrite: "true" });
      expect(files).toMatchObject([{ field: "image", type: "image/png" }]);
    });

    it("become the alpha channel of another one as masks, in any order", async () => {
      const bound = { prompt: "6.text", mask: "10.image#mask", image: "10.image" };
      const mask = Buffer.concat([png, Buffer.from("mask")]);
      await run({ image: fileInput(png), mask: fileInput(mask) }, { workflow: imageToImage, inputs: bound });
      const loaded = upstream.files.get(String(sent()["10"]?.inputs.image));
      expect(loaded?.equals(Buffer.concat([png, Buffer.from("+"), mask]))).toBe(true);
    });

    it("of a list set one field each", async () => {
      const workflow = { ...imageToImage, "12": { class_type: "LoadImage", inputs: { image: "other.png" } } };
      upstream.files.set("other.png", png);
      const bound = { prompt: "6.text", images: ["10.image", "12.image"] };
      const second = Buffer.concat([png, Buffer.from("second")]);
      await run({ images: [fileInput(png), fileInput(second)] }, { workflow, inputs: bound });
      const loaded = ["10", "12"].map((id) => upstream.files.get(String(sent()[id]?.inputs.image)));
      expect(loaded.map((bytes) => bytes?.length)).toEqual([png.length, second.length]);
      await run({ images: [fileInput(second)] }, { workflow, inputs: bound });
      expect(sent()["12"]?.inputs.image).toBe("other.png");
      const three = [1, 2, 3].map(() => fileInput(png));
      const refusal = await faultOf(run({ images: three }, { workflow, inputs: bound }));
      expect(refusal.issues).toMatchObject([{ type: "sequence_too_long", loc: ["body", "images"] }]);
    });

    it("that are too large are the caller's", async () => {
      upstream.odd.poll.push({ kind: "reply", reply: { status: 413, headers: {}, body: "Maximum request body size" } });
      const refusal = await faultOf(run({ image: fileInput(png) }, { workflow: imageToImage, inputs }));
      expect(refusal.issues).toMatchObject([{ type: "file_too_large", loc: ["body", "image"] }]);
    });

    it("that the server does not find are named", async () => {
      const bound = { prompt: "6.text", mask: "10.image#mask" };
      const refusal = await faultOf(run({ mask: fileInput(png) }, { workflow: imageToImage, inputs: bound }));
      expect(refusal.issues).toEqual([
        { type: "value_error", loc: ["body", "mask"], msg: "The model does not accept this value." },
      ]);
    });
  });

  describe("outputs", () => {
    const file = (media: "image" | "video" | "audio") => ({ type: "string", format: "binary", "x-media": media });
    const fields = (properties: Record<string, object>) => ({ type: "object", properties }) as ObjectSchema;
    const files = () =>
      upstream.seen.filter(({ kind }) => kind === "file").map(({ path }) => new URLSearchParams(path.split("?")[1]));

    it("are the files of a node in order, fetched with the key", async () => {
      upstream.batch = 3;
      const output = fields({ image: file("image"), image_2: file("image") });
      const result = await run({}, { output, outputs: { image: "9", image_2: "9" } });
      expect(Object.keys(result.output)).toEqual(["image", "image_2"]);
      for (const value of Object.values(result.output)) await bytesOf(value);
      expect(files().map((query) => query.get("filename"))).toEqual(["ComfyUI_00001_.png", "ComfyUI_00002_.png"]);
      expect(Object.fromEntries(files()[0] ?? [])).toMatchObject({ subfolder: "a b/c&d", type: "output" });
    });

    it("are all files of a node as a list, but not more than the caller has reserved", async () => {
      upstream.batch = 3;
      const images = { type: "array", items: file("image"), maxItems: 3 };
      const { output } = await run({}, { output: fields({ images }), outputs: { images: "9" } });
      expect(await Promise.all((output.images as unknown[]).map(bytesOf))).toEqual([png, png, png]);
      const both = fields({ image: file("image"), more: images });
      const rest = await run({}, { output: both, outputs: { image: "9", more: "9" } });
      expect(rest.output.more).toHaveLength(2);
      for (const value of Object.values(rest.output).flat()) await bytesOf(value);
      upstream.batch = 4;
      const refusal = await faultOf(run({}, { output: fields({ images }), outputs: { images: "9" } }));
      expect(refusal.issues[0].msg).toContain("returned 4 files");
      upstream.batch = 0;
      expect((await faultOf(run({}, { output: fields({ images }) }))).type).toBe("no_media_generated");
    });

    it("prefer saved files to previews without a binding, and are previews if nothing is saved", async () => {
      const preview = { class_type: "PreviewImage", inputs: { images: ["8", 0] } };
      const { "9": save, ...rest } = textToImage;
      await bytesOf((await run({}, { outputs: {}, workflow: { ...textToImage, "1": preview } })).output.image);
      expect(files()[0]?.get("type")).toBe("output");
      await bytesOf((await run({}, { outputs: {}, workflow: { ...rest, "1": preview } })).output.image);
      expect(files()[1]?.get("type")).toBe("temp");
      expect(save?.class_type).toBe("SaveImage");
    });

    it("are the video of a node that also saves a picture", async () => {
      const bytes = Buffer.from("000000206674797069736f6d0000020069736f6d69736f32617663316d703431", "hex");
      Object.assign(upstream.made, { bytes, type: "video/mp4" });
      const video = { class_type: "VHS_VideoCombine", inputs: { images: ["8", 0], frame_rate: 8 } };
      const workflow = { ...textToImage, "12": video };
      const result = await run({}, { workflow, output: fields({ video: file("video") }), outputs: { video: "12" } });
      expect((result.output.video as FileOutput).contentType).toBe("video/mp4");
      expect(files()[0]?.get("filename")).toMatch(/\.mp4$/);
      await bytesOf(result.output.video);
    });

    it("are texts that a node shows", async () => {
      const workflow = { ...textToImage, "13": { class_type: "PreviewAny", inputs: { source: ["8", 0] } } };
      const output = fields({ image: file("image"), caption: { type: "string" }, lines: { type: "array" } });
      const result = await run({}, { workflow, output, outputs: { caption: "13", lines: "13" } });
      await bytesOf(result.output.image);
      expect(result.output).toMatchObject({ caption: "a boat\non a lake", lines: ["a boat", "on a lake"] });
    });

    it("are there for a workflow that the server has cached", async () => {
      for (let n = 0; n < 2; n++) await bytesOf((await run({ seed: 1 })).output.image);
      expect(files()[1]?.get("filename")).toBe(files()[0]?.get("filename"));
    });

    it("are made again if the server lists no output of a cached node", async () => {
      upstream.listsCached = false;
      for (let n = 0; n < 2; n++) await bytesOf((await run({ seed: 1 })).output.image);
      expect(upstream.ran).toHaveLength(3);
      expect(upstream.ran[2]?.nodes["9"]?.inputs).toMatchObject({ filename_prefix: "ComfyUI", images: ["8", 0] });
      expect(upstream.ran[2]?.nodes["3"]).toEqual(upstream.ran[1]?.nodes["3"]);
    });

    it("are bounded", async () => {
      upstream.batch = 20_000;
      const images = { type: "array", items: file("image") };
      const refusal = await faultOf(run({}, { output: fields({ images }) }));
      expect(refusal.issues[0].msg).toContain("returned 1000 files. Its manifest allows 16");
    });

    it("may be missing", async () => {
      upstream.batch = 0;
      expect((await faultOf(run())).type).toBe("no_media_generated");
    });

    it("are read from a history without status and times", async () => {
      upstream.hasStatus = false;
      await bytesOf((await run()).output.image);
    });
  });

  it("works with a server that chooses the ids", async () => {
    upstream.version = "0.3.40";
    await bytesOf((await run()).output.image);
    const { prompt_id: own } = JSON.parse(String(upstream.seen.find(({ kind }) => kind === "call")?.body));
    expect(upstream.ran[0]?.id).not.toBe(own);
  });

  it("does not add a prompt twice if the connection breaks after it was queued", async () => {
    upstream.odd.call.push({ kind: "lose" });
    await bytesOf((await run()).output.image);
    expect(upstream.ran).toHaveLength(1);
    upstream.version = "0.3.40";
    upstream.runMs = 600;
    upstream.odd.call.push({ kind: "lose" });
    await bytesOf((await run()).output.image);
    expect(upstream.ran).toHaveLength(2);
  });

  it("keeps polling when single polls fail", async () => {
    upstream.runMs = 300;
    upstream.odd.poll.push({ kind: "reset" }, reply({}, 502), { kind: "cut" });
    await bytesOf((await run()).output.image);
    expect(paths().filter((path) => path === "POST /prompt")).toHaveLength(1);
  });
});
