import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Manifest } from "@gantry/wire";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { makeVideo } from "../../../engines/media/video.fixture.ts";
import type { Fault } from "../../../kernel/errors.ts";
import { type OpenStored, sweepSpool } from "./index.ts";
import {
  bigPng,
  brief,
  encode,
  faults,
  filesUrl,
  manifest,
  multipart,
  optional,
  type Part,
  png,
  post,
  send,
  spooled,
  useInputRequests,
} from "./input-request.fixture.ts";

useInputRequests();

describe("a valid form", () => {
  it("becomes input with defaults", async () => {
    await post([["prompt", "a cat"]], {}, async (read) => {
      const { input, files, user, webhook } = await read;
      expect(input).toEqual({ prompt: "a cat", strength: 0.5 });
      expect([files, user, webhook]).toEqual([[], undefined, undefined]);
    });
  });

  it("keeps a small file in memory and a large one on disk until it is disposed of", async () => {
    const video = Buffer.from(await makeVideo({ format: "webm", seconds: 2 }));
    const small: Part[] = [
      ["prompt", "x"],
      ["image", png, "a.exe"],
    ];
    await post(small, {}, async (read) => {
      const { input, files, dispose } = await read;
      expect(files).toMatchObject([{ field: "image", contentType: "image/png", filename: "a.exe", size: png.length }]);
      expect(files[0]?.path).toBeUndefined();
      expect(await spooled()).toEqual([]);
      expect(input.image).toBe(files[0]);
      expect(await buffer(await (files[0]?.open() ?? Readable.from([])))).toEqual(png);
      await dispose();
    });
    const large: Part[] = [
      ["i_image1", bigPng, "b.jpg"],
      ["prompt", "x"],
      ["clip", video, "c"],
      ["table", "a,b\n", "t.csv"],
    ];
    await post(large, {}, async (read) => {
      const { input, files, dispose } = await read;
      expect(files.map(({ field, contentType }) => [field, contentType])).toEqual([
        ["image1", "image/png"],
        ["clip", "video/webm"],
        ["table", "text/plain"],
      ]);
      expect(files[0]).toMatchObject({ width: 300, height: 300, size: bigPng.length });
      expect(Object.keys(input).sort()).toEqual(["clip", "image1", "prompt", "strength", "table"]);
      expect(await spooled()).toHaveLength(3);
      // May be called again.
      for (let i = 0; i < 2; i++) expect(await buffer(await (files[0]?.open() ?? Readable.from([])))).toEqual(bigPng);
      await dispose();
      await dispose();
      expect(await spooled()).toEqual([]);
    });
  });

  it("accepts files by address: http, data and s3", async () => {
    const asked: unknown[] = [];
    const openStored: OpenStored = async (path, loc) => {
      asked.push([path, loc]);
      return { stream: Readable.from([bigPng]), size: bigPng.length, filename: "mine.png" };
    };
    const parts: Part[] = [
      ["prompt", "x"],
      ["image", `${filesUrl}/cat.png`],
      ["i_image1", "s3://bucket/mine.png"],
      ["table", "data:text/csv,a%2Cb"],
    ];
    await post(parts, { openStored }, async (read) => {
      const { files, dispose } = await read;
      expect(files.map(({ field, filename, size }) => [field, filename, size])).toEqual([
        ["table", undefined, 3],
        ["image", "cat.png", bigPng.length],
        ["image1", "mine.png", bigPng.length],
      ]);
      expect(asked).toEqual([["s3://bucket/mine.png", ["body", "i_image1"]]]);
      expect(await spooled()).toHaveLength(2);
      await dispose();
    });
  });

  it("reads user and webhook if the route accepts them", async () => {
    const parts: Part[] = [
      ["prompt", "x"],
      ["user", '{"id": 3}'],
      ["webhook", '{"url": "https://a.example/"}'],
    ];
    await post(parts, { extras: { user: true, webhook: true } }, async (read) => {
      const { user, webhook } = await read;
      expect([user?.id, webhook?.url]).toEqual([3, "https://a.example/"]);
    });
    expect(brief(await faults(parts, { extras: { user: true, webhook: false } }))).toEqual(["extra_forbidden webhook"]);
  });
});

describe("an invalid form", () => {
  it("reports all issues and leaves no file", async () => {
    const damaged = bigPng.subarray(0, bigPng.length / 2);
    const parts: Part[] = [
      ["image", damaged, "a.png"],
      ["strength", "strong"],
      ["i_image", png, "b.png"],
      ["image1", Buffer.concat([Buffer.from("no image"), Buffer.alloc(70_000)]), "c.png"],
      ["other", Buffer.alloc(80_000), "d"],
      ["prompt", Buffer.from("from a file"), "p.txt"],
      ["clip", Buffer.from(await makeVideo({ format: "mp4", seconds: 7 })), "v.mp4"],
      ["table", png, "t.csv"],
    ];
    const issues = await faults(parts);
    expect(brief(issues)).toEqual([
      "image_load_error image",
      "float_parsing strength",
      "extra_forbidden i_image",
      "invalid_image_format image1",
      "extra_forbidden other",
      "string_type prompt",
      "video_duration_too_long clip",
      "invalid_file_format table",
    ]);
    expect(issues[3]?.ctx).toEqual({ supported_formats: [".jpg", ".jpeg", ".png", ".webp"] });
    expect(issues[6]?.ctx).toEqual({ max_duration: 5, provided_duration: 7 });
  });

  it("images too small, too large, empty", async () => {
    const bomb = await sharp({ create: { width: 7000, height: 6000, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    const tiny = await sharp({ create: { width: 13, height: 400, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    expect(
      brief(
        await faults([
          ["prompt", "x"],
          ["image", tiny, "a"],
          ["image1", bomb, "b"],
        ]),
      ),
    ).toEqual(["image_too_small image", "image_too_large image1"]);
    expect(
      brief(
        await faults([
          ["prompt", "x"],
          ["image", "", "a.png"],
        ]),
      ),
    ).toEqual(["invalid_image_format image"]);
  });

  it("that is not a form lacks every required field", async () => {
    const json = (given: Manifest) =>
      send(
        (request) => request.end('{"prompt": "x"}'),
        { "content-type": "application/json" },
        { manifest: given },
        (read) =>
          read.then(
            () => [],
            (error: Fault) => [...error.issues],
          ),
      );
    const ctx = { expected_content_type: "multipart/form-data", given: "application/json" };
    expect(await json(manifest)).toEqual([{ type: "missing", loc: ["body", "prompt"], msg: "Field required", ctx }]);
    expect(await json(optional)).toEqual([{ type: "missing", loc: ["body"], msg: "Field required", ctx }]);
  });

  it("with a file that is too large stops reading early", async () => {
    let sent = 0;
    const issues = await send(
      (request) => {
        request.write(
          encode([
            ["prompt", "x"],
            ["image", "", "a.png"],
          ]).subarray(0, -11),
        );
        const block = Buffer.alloc(65_536);
        const push = () => {
          while (!request.destroyed && sent < 400_000_000) {
            sent += block.length;
            if (!request.write(block)) return void request.once("drain", push);
          }
        };
        push();
      },
      multipart,
      {},
      async (read) => {
        const fault: Fault = await read.then(
          () => Promise.reject(new Error("accepted")),
          (error) => error,
        );
        expect(await spooled()).toEqual([]);
        return fault.issues;
      },
    );
    expect(issues).toMatchObject([{ type: "file_too_large", loc: ["body", "image"], ctx: { max_size: 31_457_280 } }]);
    // A little more than the limit, for the buffers of the kernel.
    expect(sent).toBeLessThan(45_000_000);
  });

  it("with a large unknown file stops reading early", async () => {
    expect(
      brief(
        await faults([
          ["image", bigPng, "a"],
          ["other", Buffer.alloc(3_000_000), "d"],
          ["strength", "x"],
        ]),
      ),
    ).toEqual(["extra_forbidden other"]);
  });
});

describe("sweepSpool", () => {
  it("removes only files of dead processes", async () => {
    const dir = await mkdtemp(join(tmpdir(), "sweep-"));
    const host = hostname().replace(/[^A-Za-z0-9-]/g, "_");
    const dead = Number(execFileSync(process.execPath, ["-e", "console.log(process.pid)"]).toString());
    const hex = "0123456789abcdef01234567";
    const names = {
      dead: `in.${host}.${dead}.${hex}`,
      own: `in.${host}.${process.pid}.${hex}`,
      living: `in.${host}.${process.ppid}.${hex}`,
      foreign: `in.elsewhere.7.${hex}`,
      old: `in.elsewhere.8.${hex}`,
      other: "notes.txt",
    };
    for (const name of Object.values(names)) await writeFile(join(dir, name), "x");
    const yesterday = new Date(Date.now() - 25 * 3_600_000);
    await utimes(join(dir, names.old), yesterday, yesterday);
    expect(await sweepSpool(dir)).toBe(3);
    expect((await readdir(dir)).sort()).toEqual([names.foreign, names.living, names.other].sort());
    await rm(dir, { recursive: true });
    expect(await sweepSpool(dir)).toBe(0);
  });
});
