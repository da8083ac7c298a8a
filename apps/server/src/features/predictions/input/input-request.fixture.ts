import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import type { FieldSchema, Manifest } from "@gantry/wire";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { createMedia } from "../../../engines/media/create-media.ts";
import { createNet } from "../../../engines/net/create-net.ts";
import { createPictures } from "../../../engines/pictures/create-pictures.ts";
import { readMultipart } from "../../../http/multipart/index.ts";
import { Fault, type Issue } from "../../../kernel/errors.ts";
import { type CheckedInput, type OpenStored, readInput } from "./index.ts";

export const picture = (type: FieldSchema["type"]): FieldSchema => ({ type, format: "binary", "x-media": "image" });
export const manifest = {
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
export const optional = {
  input: { type: "object", properties: { strength: { type: "number" } } },
  backend: { type: "cog" },
} as unknown as Manifest;

let pictures: ReturnType<typeof createPictures>;
export let media: ReturnType<typeof createMedia>;
export let open: ReturnType<typeof createNet>;
export let guarded: ReturnType<typeof createNet>;
export let spoolDir: string;
export let png: Buffer;
export let bigPng: Buffer;
export let files: http.Server;
export let filesUrl: string;

/** Called by each test file: workers share this module among files. */
export function useInputRequests(): void {
  beforeAll(async () => {
    pictures = createPictures();
    media = createMedia({ pictures });
    open = createNet({ allowPrivateNetwork: true });
    guarded = createNet({ allowPrivateNetwork: false });
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
    await pictures.close();
    files.closeAllConnections();
    files.close();
    await rm(dirname(spoolDir), { recursive: true });
  });
}

export async function* endless() {
  for (;;) yield Buffer.alloc(65_536);
}

export const spooled = () => readdir(spoolDir).catch(() => []);

export type Part = [name: string, value: string | Uint8Array, filename?: string];

export interface Sending {
  manifest?: Manifest;
  extras?: { user: boolean; webhook: boolean };
  net?: typeof open;
  openStored?: OpenStored;
  signal?: AbortSignal;
}

/** One request over a real connection. `use` receives the input. */
export async function send<T>(
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
        hashes: true,
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

export function encode(parts: Part[]): Buffer {
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

export const multipart = { "content-type": "multipart/form-data; boundary=cut" };

export function post<T>(parts: Part[], options: Sending, use: (read: Promise<CheckedInput>) => Promise<T>): Promise<T> {
  const bytes = encode(parts);
  return send((request) => request.end(bytes), { ...multipart, "content-length": bytes.length }, options, use);
}

/** The issues of a form. No file may be left at that moment. */
export async function faults(parts: Part[], options: Sending = {}): Promise<Issue[]> {
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

export const brief = (issues: Issue[]) => issues.map(({ type, loc }) => [type, ...loc.slice(1)].join(" "));
