import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { FieldSchema, Manifest } from "@gantry/wire";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createMedia } from "../../../engines/media/create-media.ts";
import { makeVideo } from "../../../engines/media/video.fixture.ts";
import { createNet } from "../../../engines/net/create-net.ts";
import { readMultipart } from "../../../http/multipart/index.ts";
import { Fault, type Issue } from "../../../kernel/errors.ts";
import { type CheckedInput, type OpenStored, readInput, sweepSpool } from "./index.ts";

const picture = (type: FieldSchema["type"]): FieldSchema => ({ type, format: "binary", "x-media": "image" });
const manifest = {
  input: {
    type: "object",
    required: ["prompt"],
    properties: {
      prompt: { type: "string" },
      strength: { type: ["number", "null"], default: 0.5 },
      image: picture(["string", "null"]),
      image1: picture(["string", "null"]),
      clip: { type: ["string", "null"], format: "binary", "x-media": "video", "x-max-duration": 5 },
      table: { type: ["string", "null"], format: "binary", "x-media": "file", "x-formats": [".csv"] },
    },
  },
  backend: { type: "cog" },
} as unknown as Manifest;
const optional = {
  input: { type: "object", properties: { strength: { type: "number" } } },
  backend: { type: "cog" },
} as unknown as Manifest;

const media = createMedia();
const open = createNet({ allowPrivateNetwork: true });
const guarded = createNet({ allowPrivateNetwork: false });
let spoolDir: string;
let png: Buffer;
let bigPng: Buffer;
let files: http.Server;
let filesUrl: string;

beforeAll(async () => {
  spoolDir = join(await mkdtemp(join(tmpdir(), "input-")), "spool");
  const noise = randomBytes(300 * 300 * 3);
  png = await sharp({ create: { width: 20, height: 20, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  bigPng = await sharp(noise, { raw: { width: 300, height: 300, channels: 3 } })
    .png()
    .toBuffer();
  expect(bigPng.length).toBeGreaterThan(100_000);
  files = http.createServer((request, response) => {
    if (request.url === "/cat.png") response.end(bigPng);
    else if (request.url === "/text") response.end("hello");
    else if (request.url === "/huge") response.writeHead(200, { "content-length": 99_999_999 }).write("x");
    else if (request.url === "/endless") Readable.from(endless()).pipe(response);
    else if (request.url === "/cut")
      response.writeHead(200, { "content-length": 500 }).write("x", () => response.destroy());
    else if (request.url === "/slow") response.writeHead(200).write(bigPng.subarray(0, 1000));
    else response.writeHead(404).end();
  });
  files.listen(0, "127.0.0.1");
  await once(files, "listening");
  filesUrl = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
});
beforeEach(async () => {
  expect(await spooled()).toEqual([]);
});
afterAll(async () => {
  await Promise.all([open.close(), guarded.close(), media.close()]);
  files.closeAllConnections();
  files.close();
  await rm(join(spoolDir, ".."), { recursive: true });
});

async function* endless() {
  for (;;) yield Buffer.alloc(65_536);
}

const spooled = () => readdir(spoolDir).catch(() => []);

type Part = [name: string, value: string | Uint8Array, filename?: string];

interface Sending {
  manifest?: Manifest;
  extras?: { user: boolean; webhook: boolean };
  net?: typeof open;
  openStored?: OpenStored;
  signal?: AbortSignal;
}

/** One request over a real connection. `use` receives the input. */
async function send<T>(
  body: (request: http.ClientRequest) => void,
  headers: http.OutgoingHttpHeaders,
  options: Sending,
  use: (read: Promise<CheckedInput>) => Promise<T>,
): Promise<T> {
  const server = http.createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const result = new Promise<T>((resolve, reject) => {
    server.on("request", (request, response) => {
      const read = readInput({
        manifest,
        form: (reading) => readMultipart(request, reading),
        extras: { user: false, webhook: false },
        spoolDir,
        net: open,
        media,
        openStored: async () => undefined,
        userId: "one",
        signal: new AbortController().signal,
        ...options,
      });
      read.catch(() => {});
      use(read)
        .then(resolve, reject)
        .finally(() => response.end());
    });
  });
  const request = http.request({ port: (server.address() as AddressInfo).port, method: "POST", headers, agent: false });
  request.on("error", () => {});
  body(request);
  try {
    return await result;
  } finally {
    request.destroy();
    server.closeAllConnections();
    server.close();
  }
}

function encode(parts: Part[]): Buffer {
  const encoded = parts.map(([name, value, filename]) =>
    Buffer.concat([
      Buffer.from(
        `--cut\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? "" : `; filename="${filename}"`}\r\n\r\n`,
      ),
      Buffer.from(value),
      Buffer.from("\r\n"),
    ]),
  );
  return Buffer.concat([...encoded, Buffer.from("--cut--\r\n")]);
}

const multipart = { "content-type": "multipart/form-data; boundary=cut" };

function post<T>(parts: Part[], options: Sending, use: (read: Promise<CheckedInput>) => Promise<T>): Promise<T> {
  const bytes = encode(parts);
  return send((request) => request.end(bytes), { ...multipart, "content-length": bytes.length }, options, use);
}

/** The issues of a form. No file may be left at that moment. */
async function faults(parts: Part[], options: Sending = {}): Promise<Issue[]> {
  return post(parts, options, async (read) => {
    const error = await read.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Fault);
    expect(await spooled()).toEqual([]);
    return [...(error as Fault).issues];
  });
}

const brief = (issues: Issue[]) => issues.map(({ type, loc }) => [type, ...loc.slice(1)].join(" "));

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

describe("an address without a valid file", () => {
  it.each([
    ["/nothing", "file_download_error"],
    ["/text", "invalid_image_format"],
    ["/huge", "file_too_large"],
    ["/endless", "file_too_large"],
    ["/cut", "file_download_error"],
  ])("%s is %s", async (path, type) => {
    const address = `${filesUrl}${path}`;
    expect(
      await faults([
        ["prompt", "x"],
        ["image", address],
      ]),
    ).toMatchObject([{ type, loc: ["body", "image"], input: address }]);
  });

  it.each([
    "cat.png",
    "/etc/passwd",
    "file:///etc/passwd",
    "ftp://a.example/cat.png",
    "data:nothing",
    "data:;base64,***",
    "http://",
    "http://u:p@a.example/",
    "http://no-such-host.invalid/",
    "s3://bucket/not-mine",
  ])("%s is file_download_error", async (address) => {
    expect(
      brief(
        await faults([
          ["prompt", "x"],
          ["i_image", address],
        ]),
      ),
    ).toEqual(["file_download_error i_image"]);
  });

  it("is not fetched from private networks, and the error does not describe them", async () => {
    for (const address of [
      `${filesUrl}/cat.png`,
      filesUrl.replace("127.0.0.1", "localhost"),
      "http://169.254.169.254/",
    ]) {
      const [issue] = await faults(
        [
          ["prompt", "x"],
          ["image", address],
        ],
        { net: guarded },
      );
      expect(issue).toMatchObject({ type: "file_download_error" });
      expect(issue?.msg).not.toMatch(/127|169|ECONN|local/);
    }
  });

  it("is not fetched if there are other issues", async () => {
    let asked = 0;
    const openStored: OpenStored = async () => {
      asked++;
      return undefined;
    };
    expect(
      brief(
        await faults(
          [
            ["image", "s3://b/k"],
            ["image1", "data:x"],
          ],
          { openStored },
        ),
      ),
    ).toEqual(["missing prompt", "file_download_error image1"]);
    expect(asked).toBe(0);
  });

  it("reports several together and removes fetched files", async () => {
    const parts: Part[] = [
      ["prompt", "x"],
      ["image", `${filesUrl}/cat.png`],
      ["image1", `${filesUrl}/nothing`],
      ["clip", `${filesUrl}/text`],
    ];
    expect(brief(await faults(parts))).toEqual(["file_download_error image1", "invalid_video_format clip"]);
  });

  it("a stored file that is too large is not read", async () => {
    const stream = Readable.from(endless());
    const openStored: OpenStored = async () => ({ stream, size: 31_457_281 });
    expect(
      brief(
        await faults(
          [
            ["prompt", "x"],
            ["image", "s3://b/k"],
          ],
          { openStored },
        ),
      ),
    ).toEqual(["file_too_large image"]);
    expect(stream.destroyed).toBe(true);
  });
});

describe("a client that disconnects", () => {
  it("during an upload leaves no file", async () => {
    const server = http.createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const socket = net.connect((server.address() as AddressInfo).port);
    socket.on("error", () => {});
    const read = new Promise<CheckedInput>((resolve, reject) => {
      server.on("request", (request) => {
        const signal = new AbortController().signal;
        const form: Parameters<typeof readInput>[0]["form"] = (reading) => readMultipart(request, reading);
        const extras = { user: false, webhook: false };
        readInput({
          manifest,
          form,
          extras,
          spoolDir,
          net: open,
          media,
          openStored: async () => undefined,
          userId: "one",
          signal,
        }).then(resolve, reject);
      });
    });
    const ended = expect(read).rejects.toMatchObject({ type: "multipart_invalid" });
    socket.write(
      "POST / HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=cut\r\ncontent-length: 9000000\r\n\r\n",
    );
    socket.write(
      encode([
        ["image", bigPng, "a.png"],
        ["clip", Buffer.alloc(500_000), "b"],
      ]).subarray(0, 400_000),
    );
    await expect.poll(async () => (await spooled()).length).toBe(2);
    socket.destroy();
    await ended;
    expect(await spooled()).toEqual([]);
    server.close();
  });

  it("during a download stops it and leaves no file", async () => {
    const leave = new AbortController();
    const reason = new Error("gone");
    const parts: Part[] = [
      ["prompt", "x"],
      ["image", `${filesUrl}/slow`],
      ["image1", bigPng, "a.png"],
    ];
    await post(parts, { signal: leave.signal }, async (read) => {
      await expect.poll(async () => (await spooled()).length).toBe(2);
      leave.abort(reason);
      await expect(read).rejects.toBe(reason);
      expect(await spooled()).toEqual([]);
    });
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
