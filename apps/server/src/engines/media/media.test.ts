import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPictures } from "../pictures/create-pictures.ts";
import { createMedia } from "./create-media.ts";
import { makeVideo } from "./video.fixture.ts";

const pictures = createPictures();
const media = createMedia({ pictures });
const usual = { userId: "one", maxPixels: 36_000_000, formats: undefined, decodes: true };
let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "media-"));
});
afterAll(async () => {
  await media.close();
  await pictures.close();
  await rm(dir, { recursive: true });
});

const noise = (width: number, height: number) => {
  const pixels = Buffer.alloc(width * height * 3);
  for (let i = 0; i < pixels.length; i++) pixels[i] = (i * 7919) % 251;
  return sharp(pixels, { raw: { width, height, channels: 3 } });
};

/** Inspects from memory and from a file with a wrong extension. */
async function inspect(bytes: Uint8Array, name = "upload.exe") {
  const path = join(dir, name);
  await writeFile(path, bytes);
  const fromFile = await media.inspect(path, usual);
  expect(await media.inspect(bytes, usual)).toEqual(fromFile);
  return fromFile;
}

describe("images", () => {
  it.each([
    ["jpeg", ".jpg", "image/jpeg"],
    ["png", ".png", "image/png"],
    ["webp", ".webp", "image/webp"],
    ["gif", ".gif", "image/gif"],
    ["avif", ".avif", "image/avif"],
    ["tiff", ".tiff", "image/tiff"],
  ] as const)("knows a %s by its bytes", async (format, extension, contentType) => {
    const bytes = await noise(40, 30).toFormat(format).toBuffer();
    expect(await inspect(bytes, "x.mp4")).toEqual({ media: "image", extension, contentType, width: 40, height: 30 });
  });

  it.each(["jpeg", "png", "webp"] as const)("finds a %s whose second half is missing", async (format) => {
    const bytes = await noise(400, 300).toFormat(format).toBuffer();
    expect(await inspect(bytes.subarray(0, bytes.length / 2))).toMatchObject({ media: "image", damaged: true });
  });

  it.each(["jpeg", "png", "webp"] as const)("finds a %s of which only the head is left", async (format) => {
    const bytes = await noise(400, 300).toFormat(format).toBuffer();
    expect(await inspect(bytes.subarray(0, 16))).toMatchObject({ media: "image", damaged: true });
  });

  it("detects broken pixels in the middle of a PNG", async () => {
    const bytes = await noise(400, 300).png().toBuffer();
    bytes.fill(0xff, bytes.length / 2, bytes.length / 2 + 200);
    expect(await inspect(bytes)).toMatchObject({ media: "image", damaged: true });
  });

  it("accepts a photograph with bytes after its end", async () => {
    const bytes = Buffer.concat([await noise(40, 30).jpeg().toBuffer(), Buffer.from("trailing data")]);
    expect((await inspect(bytes)).damaged).toBeUndefined();
  });

  it("does not decode a decompression bomb and reports the size in the header", async () => {
    const bomb = await noise(40, 30).png().toBuffer();
    bomb.writeUInt32BE(60_000, 16);
    bomb.writeUInt32BE(60_000, 20);
    bomb.writeUInt32BE(crc32(bomb.subarray(12, 29)), 29);
    const info = await inspect(bomb);
    // Decoding would report it as damaged, because its data is far too short.
    expect(info).toEqual({
      media: "image",
      extension: ".png",
      contentType: "image/png",
      width: 60_000,
      height: 60_000,
    });
  });

  it("reports the size of one frame of an animation", async () => {
    const frames = Buffer.alloc(20 * 60 * 3, 5);
    frames.fill(200, 20 * 20 * 3, 20 * 40 * 3);
    const gif = await sharp(frames, { raw: { width: 20, height: 60, channels: 3, pageHeight: 20 } })
      .gif()
      .toBuffer();
    expect(await inspect(gif)).toMatchObject({ width: 20, height: 20 });
  });
});

describe("a format that is not accepted", () => {
  const formats = new Set([".jpg", ".png", ".webp"]);
  const work: string[] = [];
  const watched = createMedia({ pictures, onWork: (kind) => work.push(kind) });
  afterAll(() => watched.close());
  const flat = (side: number) => sharp({ create: { width: side, height: side, channels: 3, background: "red" } });

  it.each(["avif", "tiff", "gif"] as const)("is known by the head of a %s, without a decode", async (format) => {
    const bytes = await flat(1000).toFormat(format, { effort: 1 }).toBuffer();
    const info = await watched.inspect(bytes, { ...usual, formats });
    expect(formats.has(info.extension)).toBe(false);
    expect(info.width).toBeUndefined();
    expect(work).toEqual([]);
  });

  it("is not parsed if a prober had to identify it", async () => {
    const video = await makeVideo({ format: "mp4", seconds: 2 });
    const info = await watched.inspect(video, { ...usual, formats: new Set([".webm"]) });
    expect(info).toEqual({ media: "video", extension: ".mp4", contentType: "video/mp4" });
    expect(work).toEqual(["probe"]);
  });

  it("is decoded only if the caller needs its size", async () => {
    work.length = 0;
    const png = await flat(40).png().toBuffer();
    expect(await watched.inspect(png, { ...usual, decodes: false })).not.toHaveProperty("width");
    expect(work).toEqual([]);
    expect(await watched.inspect(png, usual)).toMatchObject({ width: 40 });
    expect(work).toEqual(["decode"]);
  });
});

describe("files of one user", () => {
  const large = () => sharp({ create: { width: 6000, height: 6000, channels: 3, background: "red" } });
  /** Names in the order in which they ended. */
  function watching() {
    const ended: string[] = [];
    const watch = <T>(name: string, work: Promise<T>) => work.finally(() => ended.push(name));
    return { ended, watch };
  }

  it("do not delay decoding for others", async () => {
    const jpeg = await large().jpeg({ progressive: true }).toBuffer();
    const png = await noise(64, 64).png().toBuffer();
    const { ended, watch } = watching();
    const crowd = Array.from({ length: 6 }, () => watch("crowd", media.inspect(jpeg, { ...usual, userId: "crowd" })));
    await watch("other", media.inspect(png, { ...usual, userId: "other" }));
    await Promise.all(crowd);
    expect(ended.indexOf("other")).toBeLessThan(2);
  });

  it("do not delay parsing for others", async () => {
    const hasty = createMedia({ pictures, maxProbeMs: 500 });
    const slow = await endless();
    const video = await makeVideo({ format: "mp4", seconds: 2 });
    const { ended, watch } = watching();
    const crowd = Array.from({ length: 4 }, () => watch("crowd", hasty.inspect(slow, { ...usual, userId: "crowd" })));
    expect(await watch("other", hasty.inspect(video, { ...usual, userId: "other" }))).toMatchObject({ media: "video" });
    await Promise.all(crowd);
    expect(ended.indexOf("other")).toBeLessThan(2);
    await hasty.close();
  });

  it("are refused with a retryable fault if too many wait; those of others are not", async () => {
    const png = await noise(20, 20).png().toBuffer();
    const ends = Array.from({ length: 300 }, () => media.inspect(png, { ...usual, userId: "crowd" }));
    const other = media.inspect(png, { ...usual, userId: "other" });
    const refused = (await Promise.allSettled(ends)).filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ reason: { type: "service_unavailable" } });
    expect(await other).toMatchObject({ width: 20 });
  });

  it("are damaged if decoding takes too long, and leave their slot to the next", async () => {
    const jpeg = await large().jpeg({ progressive: true }).toBuffer();
    const png = await noise(20, 20).png().toBuffer();
    // libvips needs hundreds of milliseconds for the first image.
    const inspect: typeof pictures.inspect = (source, options) =>
      pictures.inspect(source, source === jpeg ? { ...options, maxMs: 20 } : options);
    const hasty = createMedia({ pictures: { inspect }, parallelDecodes: 1 });
    const { ended, watch } = watching();
    const slow = watch("slow", hasty.inspect(jpeg, usual));
    const next = watch("next", hasty.inspect(png, { ...usual, userId: "other" }));
    expect(await slow).toMatchObject({ extension: ".jpg", damaged: true });
    expect(await next).toMatchObject({ width: 20 });
    expect(ended).toEqual(["slow", "next"]);
    await hasty.close();
  });
});

/** Ten million empty elements where the first track should be. */
async function endless(): Promise<Uint8Array> {
  const webm = Buffer.from(await makeVideo({ format: "webm", seconds: 1 }));
  const segment = Buffer.from("18538067", "hex");
  const ofUnknownSize = Buffer.from("01ffffffffffffff", "hex");
  const voids = Buffer.alloc(20_000_000, Buffer.from("ec80", "hex"));
  return Buffer.concat([webm.subarray(0, webm.indexOf(segment)), segment, ofUnknownSize, voids]);
}

describe("videos and sound", () => {
  it.each([
    ["mp4", "video/mp4"],
    ["mov", "video/quicktime"],
    ["webm", "video/webm"],
  ] as const)("measures a %s", async (format, contentType) => {
    const info = await inspect(await makeVideo({ format, seconds: 3.5 }), "x.jpg");
    expect(info).toMatchObject({ media: "video", extension: `.${format}`, contentType, width: 320, height: 240 });
    expect(info.durationSeconds).toBeCloseTo(3.5, 1);
  });

  it("does not trust a header with a shorter duration", async () => {
    const bytes = Buffer.from(await makeVideo({ format: "mp4", seconds: 20 }));
    for (const box of ["mvhd", "mdhd", "tkhd"]) {
      const at = bytes.indexOf(box) + 4;
      const duration = at + 4 + (box === "tkhd" ? 16 : 12);
      bytes.writeUInt32BE(1, duration);
    }
    expect((await inspect(bytes)).durationSeconds).toBeGreaterThan(19);
  });

  it("reports a video container with audio only as audio", async () => {
    expect(await inspect(await makeVideo({ format: "webm", seconds: 1, soundOnly: true }))).toMatchObject({
      media: "audio",
      contentType: "audio/webm",
    });
  });

  it("detects a truncated video", async () => {
    const bytes = await makeVideo({ format: "mp4", seconds: 2 });
    expect(await inspect(bytes.subarray(0, 40))).toMatchObject({ media: "video", damaged: true });
  });

  it("stops a file that keeps its parser busy and continues with the next", async () => {
    const hasty = createMedia({ pictures, maxProbeMs: 500 });
    expect(await hasty.inspect(await endless(), usual)).toMatchObject({ media: "other", damaged: true });
    const video = await makeVideo({ format: "mp4", seconds: 2 });
    expect(await hasty.inspect(video, usual)).toMatchObject({ media: "video" });
    await hasty.close();
  });
});

describe("everything else", () => {
  it("recognizes text, documents and unknown files", async () => {
    expect(await inspect(Buffer.from("a,b\n1,ü\n"))).toEqual({
      media: "other",
      extension: ".txt",
      contentType: "text/plain",
    });
    expect(await inspect(Buffer.from("%PDF-1.7\n%âãÏÓ\n"))).toMatchObject({ media: "other", extension: ".pdf" });
    const unknown = { media: "other", extension: "", contentType: "application/octet-stream" };
    expect(await inspect(Buffer.from([1, 2, 3, 0, 255, 254]))).toEqual(unknown);
    expect(await inspect(new Uint8Array(0))).toEqual(unknown);
  });

  it("does not treat an SVG as an image, because it can contain code", async () => {
    expect((await inspect(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))).media).toBe("other");
  });

  it("inspects many at once and leaves no file open", async () => {
    const png = await noise(300, 300).png().toBuffer();
    const all = await Promise.all(Array.from({ length: 12 }, () => media.inspect(png, usual)));
    expect(all.every((info) => info.width === 300 && !info.damaged)).toBe(true);
    expect((await readdir(dir)).sort()).toEqual(["upload.exe", "x.jpg", "x.mp4"]);
  });
});
