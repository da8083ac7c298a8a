import { Readable } from "node:stream";
import sharp from "sharp";
import { afterAll, expect, test } from "vitest";
import type { FileInput, FileOutput, InputValue } from "../../driver.ts";
import { createImagePainter, imageManifest } from "./index.ts";
import { defaultPrompt } from "./manifest.ts";
import { type Size, sizes } from "./sizes.ts";

const painter = createImagePainter();
afterAll(() => painter.close());

const never = new AbortController().signal;

async function run(input: Record<string, InputValue>, signal = never): Promise<Uint8Array> {
  const { output } = await painter.run({ predictionId: "pred_1", input, signal, onFragment: () => undefined });
  const image = output.image as FileOutput;
  expect(image).toMatchObject({ kind: "file", contentType: "image/jpeg" });
  return image.body as Uint8Array;
}

/** A file as the server hands it over: in pieces, readable again and again. */
function file(bytes: Uint8Array, size = bytes.length): FileInput {
  const pieces = Array.from({ length: Math.ceil(bytes.length / 1000) }, (_, i) =>
    bytes.subarray(i * 1000, (i + 1) * 1000),
  );
  return { kind: "file", contentType: "image/png", size, filename: "a.png", open: async () => Readable.from(pieces) };
}

test.each(Object.keys(sizes) as Size[])("size %s is exact", async (size) => {
  const [width, height] = sizes[size];
  const body = await run({ prompt: "hills", size, optimize_prompt_mode: "fast" });
  expect(await sharp(body).metadata()).toMatchObject({ format: "jpeg", width, height });
});

test("another painter makes the same bytes of the same input, references included", async () => {
  const red = await sharp({ create: { width: 50, height: 40, channels: 3, background: "#d01020" } })
    .png()
    .toBuffer();
  const input = { prompt: "two drones", size: "1280x720", watermark: true, image: file(red), image9: file(red) };
  const first = await run(input);
  const other = createImagePainter({ workers: 1 });
  const { output } = await other.run({ predictionId: "pred_2", input, signal: never, onFragment: () => undefined });
  await other.close();
  expect(Buffer.compare(first, (output.image as FileOutput).body as Uint8Array)).toBe(0);
});

test("a refused prompt is a content_policy_violation at the prompt, unless the checker is off", async () => {
  const refused = run({ prompt: "a n4ked statue", size: "1280x720" });
  await expect(refused).rejects.toMatchObject({
    type: "content_policy_violation",
    status: 422,
    issues: [{ loc: ["body", "prompt"] }],
  });
  expect(
    (await run({ prompt: "a n4ked statue", size: "1280x720", enable_safety_checker: false })).length,
  ).toBeGreaterThan(1000);
});

test("no file is opened for a prompt that is refused", async () => {
  let opened = 0;
  const spy: FileInput = {
    ...file(Buffer.alloc(10)),
    async open() {
      opened++;
      return Readable.from([]);
    },
  };
  await expect(run({ prompt: "nude", image: spy })).rejects.toMatchObject({ type: "content_policy_violation" });
  expect(opened).toBe(0);
});

test("a damaged reference is refused by its field; one longer than announced is not read on", async () => {
  await expect(run({ prompt: "hills", image3: file(Buffer.alloc(5000, 7)) })).rejects.toMatchObject({
    type: "image_load_error",
    issues: [{ loc: ["body", "image3"] }],
  });
  await expect(run({ prompt: "hills", image: file(Buffer.alloc(5000), 1500) })).rejects.toMatchObject({
    type: "file_too_large",
  });
});

test("an abort ends the call and the painter paints on", async () => {
  const leaving = new AbortController();
  const call = run({ prompt: defaultPrompt }, leaving.signal);
  setTimeout(() => leaving.abort(new Error("left")), 60);
  await expect(call).rejects.toThrow("left");
  expect((await run({ prompt: "hills", size: "720x1280" })).length).toBeGreaterThan(1000);
});

test("painting leaves the event loop free", async () => {
  await run({ prompt: "warm-up", size: "1280x720" });
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 5);
  await run({ prompt: defaultPrompt, size: "2k" });
  clearInterval(ticking);
  // Hundreds at best; painting in this thread would let none through.
  expect(ticks).toBeGreaterThan(10);
});

test("the manifest is the model of the specification", () => {
  const { input, output } = imageManifest;
  const images = ["image", ...Array.from({ length: 9 }, (_, i) => `image${i + 1}`)];
  expect(Object.keys(input.properties)).toEqual([
    "prompt",
    ...images,
    "size",
    "watermark",
    "optimize_prompt_mode",
    "enable_safety_checker",
  ]);
  expect(input.required).toEqual(["prompt"]);
  for (const name of images)
    expect(input.properties[name]).toMatchObject({
      type: ["string", "null"],
      format: "binary",
      "x-media": "image",
      default: null,
    });
  expect(input.properties.prompt?.default).toMatch(/drone/);
  expect(input.properties.size).toMatchObject({ default: "2k", enum: Object.keys(sizes) });
  expect(input.properties.watermark?.default).toBe(false);
  expect(input.properties.optimize_prompt_mode).toMatchObject({ default: "standard", enum: ["standard", "fast"] });
  expect(input.properties.enable_safety_checker?.default).toBe(true);
  expect(output).toMatchObject({
    required: ["image"],
    properties: { image: { format: "binary", "x-media": "image" } },
  });
  expect(imageManifest).toMatchObject({
    kind: "image",
    visibility: "public",
    pricing: { per_request: 0.03 },
    backend: { type: "builtin", model: "image" },
  });
});
