import { Readable } from "node:stream";
import { defaultPrompt, type Size, sizes } from "@gantry/painter/options";
import sharp from "sharp";
import { afterAll, expect, test } from "vitest";
import { createPictures } from "../../pictures/create-pictures.ts";
import type { Pictures } from "../../pictures/pictures.ts";
import type { FileInput, FileOutput, InputValue } from "../driver.ts";
import { imageManifest } from "./image-manifest.ts";
import { createImagePainter } from "./painter.ts";

const pictures = createPictures();
const painter = createImagePainter(pictures);
afterAll(async () => {
  await painter.close();
  await pictures.close();
});

const never = new AbortController().signal;

async function run(input: Record<string, InputValue>, signal = never, on = painter): Promise<Uint8Array> {
  const { output } = await on.run({ predictionId: "pred_1", input, signal, onFragment: () => undefined });
  const image = output.image as FileOutput;
  expect(image).toMatchObject({ kind: "file", contentType: "image/jpeg" });
  return image.body as Uint8Array;
}

/** Arrives in chunks, as from the file store. */
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
  const others = createPictures();
  expect(Buffer.compare(first, await run(input, never, createImagePainter(others)))).toBe(0);
  await others.close();
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

test("a reference is refused by its field if it is damaged, longer than announced, or cannot be read", async () => {
  await expect(run({ prompt: "hills", image3: file(Buffer.alloc(5000, 7)) })).rejects.toMatchObject({
    type: "image_load_error",
    issues: [{ loc: ["body", "image3"] }],
  });
  await expect(run({ prompt: "hills", image: file(Buffer.alloc(5000), 1500) })).rejects.toMatchObject({
    type: "file_too_large",
  });
  const gone = { ...file(Buffer.alloc(10)), open: () => Promise.reject(new Error("storage is gone")) };
  await expect(run({ prompt: "hills", image: gone })).rejects.toThrow("storage is gone");
});

const small = { prompt: "hills", size: "1280x720", optimize_prompt_mode: "fast" };

test("an abort rejects at once, waiting or running, and the next picture is painted", async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const [running, waiting] = [run({ prompt: defaultPrompt }, first.signal), run(small, second.signal)];
  second.abort(new Error("left while waiting"));
  await expect(waiting).rejects.toThrow("left while waiting");
  setTimeout(() => first.abort(new Error("left while running")), 60);
  await expect(running).rejects.toThrow("left while running");
  expect((await run(small)).length).toBeGreaterThan(1000);
  await expect(run(small, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
});

test("an abort while a reference hangs frees the painter", async () => {
  const opened = Promise.withResolvers<void>();
  const open = () => {
    opened.resolve();
    return new Promise<Readable>(() => {});
  };
  const leaving = new AbortController();
  const stuck = run({ prompt: "hills", image: { ...file(Buffer.alloc(10)), open } }, leaving.signal);
  await opened.promise;
  leaving.abort(new Error("left"));
  await expect(stuck).rejects.toThrow("left");
  expect((await run(small)).length).toBeGreaterThan(1000);
});

test("a cancelled picture stops while it is painted, and its process is kept", async () => {
  await run(small);
  const pids = pictures.pids();
  const ends: unknown[] = [];
  const watched: Pictures = {
    ...pictures,
    paint: async (...args) => {
      const painting = pictures.paint(...args);
      ends.push(await painting.catch((error: Error) => String(error.cause)));
      return painting;
    },
  };
  const other = createImagePainter(watched);
  const leaving = new AbortController();
  const cancelled = run({ prompt: defaultPrompt, size: "3024x1296" }, leaving.signal, other);
  setTimeout(() => leaving.abort(new Error("left")), 60);
  await expect(cancelled).rejects.toThrow("left");
  await other.close();
  expect(ends).toEqual([expect.stringContaining("The picture was cancelled")]);
  await run(small);
  expect(pictures.pids()).toEqual(pids);
});

test("close finishes the running picture, fails waiting ones and takes no more", async () => {
  const other = createImagePainter(pictures);
  const [running, waiting] = [run(small, never, other), run(small, never, other)];
  const refused = expect(waiting).rejects.toMatchObject({ type: "service_unavailable" });
  await other.close();
  expect((await running).length).toBeGreaterThan(1000);
  await refused;
  await expect(run(small, never, other)).rejects.toMatchObject({ type: "service_unavailable" });
});

test("painting leaves the event loop free", async () => {
  await run({ prompt: "warm-up", size: "1280x720" });
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 5);
  await run({ prompt: defaultPrompt, size: "2k" });
  clearInterval(ticking);
  // Painting on the event loop would let none through.
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
