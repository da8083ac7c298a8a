import sharp from "sharp";
import { beforeAll, expect, test } from "vitest";
import * as lexicon from "./lexicon.ts";
import { drawSvg, paint } from "./paint.ts";
import { createRandom } from "./random.ts";
import { type Reference, readReference } from "./references.ts";

beforeAll(() => {
  sharp.concurrency(1);
});

interface Pixels {
  data: Uint8Array;
  width: number;
  height: number;
}

const defaults = { width: 480, height: 270, watermark: false, mode: "standard" as const };

async function painted(prompt: string, change: object = {}, references: Reference[] = []): Promise<Uint8Array> {
  return paint({ prompt, ...defaults, ...change }, references, async () => undefined);
}

async function pixelsOf(jpeg: Uint8Array): Promise<Pixels> {
  const { data, info } = await sharp(jpeg).raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

const look = async (...args: Parameters<typeof painted>) => pixelsOf(await painted(...args));

/** The share of pixels that satisfy a test of red, green and blue. */
function share({ data, width, height }: Pixels, test: (r: number, g: number, b: number) => boolean, top = 0): number {
  let hits = 0;
  const from = Math.floor(height * top) * width;
  for (let i = from; i < width * height; i++) {
    if (test(data[i * 3] ?? 0, data[i * 3 + 1] ?? 0, data[i * 3 + 2] ?? 0)) hits++;
  }
  return hits / (width * height - from);
}

function brightness({ data }: Pixels): number {
  return data.reduce((sum, value) => sum + value, 0) / data.length;
}

type Share = [left: number, top: number, right: number, bottom: number];

/** Mean difference of the channels within a box. */
function difference(a: Pixels, b: Pixels, [x0, y0, x1, y1]: Share = [0, 0, 1, 1]): number {
  let [sum, count] = [0, 0];
  for (let y = Math.floor(y0 * a.height); y < y1 * a.height; y++) {
    for (let i = (y * a.width + Math.floor(x0 * a.width)) * 3; i < (y * a.width + Math.floor(x1 * a.width)) * 3; i++) {
      sum += Math.abs((a.data[i] ?? 0) - (b.data[i] ?? 0));
      count++;
    }
  }
  return sum / count;
}

const near =
  ([r, g, b]: readonly number[], within = 30) =>
  (r2: number, g2: number, b2: number) =>
    Math.abs(r2 - (r ?? 0)) < within && Math.abs(g2 - (g ?? 0)) < within && Math.abs(b2 - (b ?? 0)) < within;

test("the same prompt gives the same bytes, whatever its case and spaces", async () => {
  const first = await painted("Two drones over a city");
  expect(Buffer.compare(first, await painted("Two drones over a city"))).toBe(0);
  expect(Buffer.compare(first, await painted("  two  DRONES over a city\n"))).toBe(0);
});

test("different prompts give visibly different pictures", async () => {
  const prompts = [
    "a red car",
    "a forest at night",
    "the sea at sunset",
    "longing",
    "gratitude",
    "a drone",
    "a quiet drone",
  ];
  const pictures = await Promise.all(prompts.map((prompt) => look(prompt)));
  pictures.forEach((a, i) => {
    for (const b of pictures.slice(i + 1)) expect(difference(a, b)).toBeGreaterThan(4);
  });
});

test("every word of the vocabulary changes the markup and keeps it valid", () => {
  const bare = drawSvg({ prompt: "hills at noon", ...defaults }, [], createRandom("same"));
  const { subjects, times, weathers, moods } = lexicon;
  const words = [subjects, times, weathers, moods].flatMap((table) => Object.keys(table));
  for (const word of words.filter((one) => one !== "hill" && one !== "day")) {
    for (const mode of ["standard", "fast"] as const) {
      const [first = word] = { ...times, ...weathers, ...moods }[word as lexicon.Time] ?? [word];
      const prompt = word in times ? `hills at ${first.replace("-", " ")}` : `hills at noon, five ${first} s, ${word}s`;
      const svg = drawSvg({ prompt, ...defaults, mode }, [], createRandom("same"));
      expect(svg, word).not.toMatch(/NaN|undefined|Infinity|\[object/);
      expect(svg, word).not.toBe(bare);
    }
  }
});

test("other words around a subject change its arrangement", async () => {
  expect(Buffer.compare(await painted("a house by day"), await painted("one house by day"))).not.toBe(0);
});

test("the time of day sets the light", async () => {
  const levels = await Promise.all(
    ["midnight", "dusk", "noon"].map(async (time) => brightness(await look(`hills at ${time}`))),
  );
  const [night = 0, dusk = 0, noon = 0] = levels;
  expect(night).toBeLessThan(dusk * 0.85);
  expect(dusk).toBeLessThan(noon * 0.85);
});

test.each([
  ["red", (r: number, g: number, b: number) => r > 120 && r > g * 1.7 && r > b * 1.7],
  ["blue", (r: number, g: number, b: number) => b > 110 && b > r * 1.7 && b > g * 1.25],
  ["yellow", (r: number, g: number, b: number) => r > 160 && g > 130 && b < 110],
] as const)("a %s balloon is that colour", async (colour, test) => {
  const prompt = (word: string) => `a huge ${word} balloon over the hills in the morning, ${colour}less`;
  const [asked, other] = [await look(prompt(colour)), await look(prompt("white"))];
  expect(share(asked, test)).toBeGreaterThan(share(other, test) + 0.012);
});

test("the sky takes the colour of the prompt", async () => {
  const green = (r: number, g: number, b: number) => g > r * 1.15 && g > b * 1.1;
  const upper = async (prompt: string) => {
    const { data, width, height } = await look(prompt);
    return share(
      { data: data.subarray(0, width * Math.floor(height / 3) * 3), width, height: Math.floor(height / 3) },
      green,
    );
  };
  expect(await upper("a green sky over the sea at noon")).toBeGreaterThan(0.7);
  expect(await upper("the sea at noon")).toBeLessThan(0.1);
});

test("a higher number covers more of the picture", async () => {
  const red = (r: number, g: number, b: number) => r > 120 && r > g * 1.7 && r > b * 1.7;
  const covered = async (count: string) => share(await look(`${count} red rabbits in a meadow at noon`), red, 0.4);
  const two = await covered("two");
  expect(two).toBeGreaterThan(0.002);
  expect(await covered("nine")).toBeGreaterThan(two * 1.5);
});

test("standard adds details to the same scene as fast", async () => {
  const [standard, fast] = [
    await look("a house in the hills by day"),
    await look("a house in the hills by day", { mode: "fast" }),
  ];
  expect(difference(standard, fast)).toBeGreaterThan(2);
  const other = await look("a ship at midnight");
  expect(difference(standard, fast)).toBeLessThan(difference(standard, other) / 2);
});

test("the watermark marks the lower right corner and nothing else", async () => {
  for (const [width, height] of [
    [480, 270],
    [270, 480],
  ]) {
    const [without, marked] = await Promise.all(
      [false, true].map((watermark) => look("hills", { watermark, width, height })),
    );
    if (!without || !marked) throw new Error("unreachable");
    expect(difference(without, marked, [0.62, 0.88, 1, 1])).toBeGreaterThan(3);
    expect(difference(without, marked, [0, 0, 1, 0.8])).toBeLessThan(0.2);
    expect(difference(without, marked, [0, 0.8, 0.4, 1])).toBeLessThan(0.2);
  }
});

test("the watermark is legible: bright strokes on a dark plate", async () => {
  const corner = await sharp(await painted("hills at noon", { watermark: true, width: 1280, height: 720 }))
    .extract({ left: 1110, top: 665, width: 150, height: 40 })
    .raw()
    .toBuffer();
  expect(Math.max(...corner)).toBeGreaterThan(200);
  expect(Math.min(...corner)).toBeLessThan(90);
});

const tenColours = [
  [230, 20, 30],
  [20, 200, 40],
  [30, 40, 230],
  [240, 220, 20],
  [220, 30, 220],
  [20, 220, 220],
  [250, 130, 10],
  [110, 10, 140],
  [10, 90, 60],
  [120, 70, 20],
] as const;

const solid = async ([r, g, b]: readonly [number, number, number], width = 120, height = 90) =>
  readReference(
    await sharp({ create: { width, height, channels: 3, background: { r, g, b } } })
      .png()
      .toBuffer(),
    false,
  );

test.each([1, 2, 3, 5, 10])("each of %i references is visible in the picture", async (count) => {
  const chosen = tenColours.slice(0, count);
  const references = await Promise.all(chosen.map((colour) => solid(colour)));
  for (const shape of [
    { width: 640, height: 360 },
    { width: 360, height: 640 },
  ]) {
    const picture = await look("a meadow in the morning", shape, references);
    for (const colour of chosen) expect(share(picture, near(colour)), String(colour)).toBeGreaterThan(0.008);
  }
});

test("a reference keeps its content and orientation", async () => {
  const half = (background: string) =>
    sharp({ create: { width: 60, height: 120, channels: 3, background } })
      .png()
      .toBuffer();
  const upright = await sharp({ create: { width: 120, height: 120, channels: 3, background: "#e01020" } })
    .composite([{ input: await half("#1020e0"), left: 60, top: 0 }])
    .png()
    .toBuffer();
  // Phones store photos rotated, with an orientation tag.
  const turned = await sharp(upright).rotate(-90).withMetadata({ orientation: 6 }).jpeg({ quality: 95 }).toBuffer();
  const middles = (picture: Pixels, test: (r: number, g: number, b: number) => boolean) => {
    let [sum, count] = [0, 0];
    for (let i = 0; i < picture.width * picture.height; i++) {
      if (!test(picture.data[i * 3] ?? 0, picture.data[i * 3 + 1] ?? 0, picture.data[i * 3 + 2] ?? 0)) continue;
      sum += i % picture.width;
      count++;
    }
    return sum / count;
  };
  for (const bytes of [upright, turned]) {
    const picture = await look("hills", {}, [await readReference(bytes, false)]);
    expect(middles(picture, near([224, 16, 32])) + 20).toBeLessThan(middles(picture, near([16, 32, 224])));
  }
});

test("references tint the palette, and their order and bytes are part of the picture", async () => {
  const [teal, pink] = [await solid([20, 150, 140]), await solid([240, 90, 160])];
  const sky: Share = [0, 0, 0.3, 0.12];
  const [one, two] = [await look("hills at noon", {}, [teal]), await look("hills at noon", {}, [pink])];
  expect(difference(one, two, sky)).toBeGreaterThan(8);
  const [ab, ba] = [await painted("hills", {}, [teal, pink]), await painted("hills", {}, [pink, teal])];
  expect(Buffer.compare(ab, ba)).not.toBe(0);
});

test("bytes that are not an image are rejected", async () => {
  await expect(readReference(Buffer.from("not an image"), false)).rejects.toThrow(/unsupported image format/);
});

test("a cancelled picture stops before the next step", async () => {
  const calls: number[] = [];
  const stop = () => {
    calls.push(1);
    throw new Error("cancelled");
  };
  await expect(paint({ prompt: "hills", ...defaults }, [], stop)).rejects.toThrow("cancelled");
  expect(calls).toHaveLength(1);
});
