import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { defaultPrompt } from "@gantry/painter/options";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPictures } from "./create-pictures.ts";

const pictures = createPictures();
afterAll(() => pictures.close());

const { signal: never } = new AbortController();
const small = { prompt: "hills", width: 1280, height: 720, watermark: false, mode: "fast" } as const;
const large = { ...small, prompt: defaultPrompt, width: 2048, height: 2048, mode: "standard" } as const;
const asPng = { format: "png", maxPixels: 36_000_000, maxMs: 30_000 } as const;
let png: Buffer;
beforeAll(async () => {
  png = await sharp({ create: { width: 40, height: 30, channels: 3, background: "red" } })
    .png()
    .toBuffer();
});

test("a picture whose process is killed is painted in another, with the same bytes", async () => {
  const troubles: string[] = [];
  const own = createPictures({ onTrouble: (text) => troubles.push(text) });
  await own.inspect(png, asPng);
  const [pid = 0] = own.pids();
  const [painting, beside] = [own.paint(large, [], never), own.paint(small, [], never)];
  await sleep(100);
  process.kill(pid, "SIGKILL");
  expect(Buffer.compare(await painting, await pictures.paint(large, [], never))).toBe(0);
  expect(Buffer.compare(await beside, await pictures.paint(small, [], never))).toBe(0);
  expect(await own.inspect(png, asPng)).toEqual({ width: 40, height: 30 });
  expect(own.pids()).not.toContain(pid);
  expect(troubles).toEqual(["The process of picture.process.ts failed"]);
  await own.close();
});

test("processes that are replaced after each picture fail none of them", async () => {
  const troubles: string[] = [];
  const own = createPictures({ mostResidentBytes: 1, onTrouble: (text) => troubles.push(text) });
  const seen = new Set<number>();
  const user = async () => {
    for (let i = 0; i < 15 || seen.size < 3; i++) {
      expect(await own.inspect(png, asPng)).toEqual({ width: 40, height: 30 });
      for (const pid of own.pids()) seen.add(pid);
      await sleep(20);
    }
  };
  const painted = own.paint(large, [], never);
  await Promise.all([user(), user()]);
  expect((await painted).length).toBeGreaterThan(1000);
  await expect.poll(() => own.pids().length).toBeLessThanOrEqual(2);
  expect(troubles).toEqual([]);
  await own.close();
});

test("an inspection does not wait for a picture that is painted", async () => {
  await pictures.inspect(png, asPng);
  const ended: string[] = [];
  const painted = pictures.paint(large, [], never).then(() => ended.push("painted"));
  for (let i = 0; i < 5; i++) await pictures.inspect(png, asPng).then(() => ended.push("inspected"));
  await painted;
  expect(ended.at(-1)).toBe("painted");
});

test("the process has neither the environment of the server nor its arguments", async () => {
  await pictures.inspect(png, asPng);
  const [pid] = pictures.pids();
  const environment = (await readFile(`/proc/${pid}/environ`, "utf8")).split("\0").filter(Boolean);
  const names = environment.map((line) => line.slice(0, line.indexOf("=")));
  const strange = names.filter((name) => !/^(MALLOC_\w+|NODE_COMPILE_CACHE|NODE_CHANNEL_\w+)$/.test(name));
  expect(strange).toEqual([]);
  expect(names).toContain("MALLOC_MMAP_THRESHOLD_");
});
