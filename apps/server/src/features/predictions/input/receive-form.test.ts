import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Manifest } from "@gantry/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createMedia } from "../../../engines/media/create-media.ts";
import { createNet } from "../../../engines/net/create-net.ts";
import { createPictures } from "../../../engines/pictures/create-pictures.ts";
import { Fault } from "../../../kernel/errors.ts";
import type { FormEntry, FormFile, FormReader } from "./form.ts";
import { readInput, receiveForm } from "./index.ts";
import { fingerprintOf } from "./receive-form.ts";

type Entry = FormEntry<{ digest: string }>;

const text = (name: string, value: string): Entry => ({ name, value });
const file = (name: string, digest: string, filename?: string): Entry => ({ name, file: { digest }, filename });
const print = (...entries: Entry[]) => fingerprintOf({ kind: "form", entries }, { user: true, webhook: true });

const first = print(text("prompt", "x"), file("image", "aa", "a.png"));

it("is independent of order, file names, and the name of a file field", () => {
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(print(file("i_image", "aa", "other.png"), text("prompt", "x"))).toBe(first);
  expect(print(text("i_image", "https://a.example/"))).toBe(print(text("image", "https://a.example/")));
});

it("differs with any other field, text or file, even if it equals the default", () => {
  const others = [
    print(text("prompt", "y"), file("image", "aa")),
    print(text("prompt", "x"), file("image", "bb")),
    print(text("prompt", "x"), file("image1", "aa")),
    print(text("prompt", "x"), text("image", "aa")),
    print(text("prompt", "x"), file("image", "aa"), text("strength", "0.5")),
    print(text("prompt", "x"), file("image", "aa"), text("strength", "")),
    print(text("prompt", "x"), file("image", "aa"), text("prompt", "x")),
    print(text("prompt", "x"), file("image", "aa"), text("user", '{"id":1}')),
    print(text("prompt", "x"), file("image", "aa"), text("webhook", '{"url":1}')),
    print(),
    fingerprintOf({ kind: "not-multipart", ctx: {} }, { user: false, webhook: false }),
  ];
  expect(new Set([first, ...others]).size).toBe(others.length + 1);
});

it("compares user and webhook by their value", () => {
  const user = print(text("user", '{"id": 1, "a": {"b": 2, "c": 3}}'));
  expect(print(text("user", '{"a":{"c":3,"b":2},"high_priority":null,"id":1}'))).toBe(user);
  const webhook = print(text("webhook", '{"url":"https://a.example/"}'));
  expect(print(text("webhook", '{"headers":{},"query_params":{},"url":"https://a.example/"}'))).toBe(webhook);
  for (const nothing of ["", "null", '{"url":""}']) expect(print(text("webhook", nothing))).toBe(print());
  for (const nothing of ["", "null"]) expect(print(text("user", nothing))).toBe(print());
  const asField = fingerprintOf({ kind: "form", entries: [text("user", "null")] }, { user: false, webhook: false });
  expect(asField).not.toBe(print());
});

const manifest = {
  input: {
    type: "object",
    required: ["prompt"],
    properties: {
      prompt: { type: "string" },
      paper: { type: "string", format: "binary", "x-media": "file" },
      image: { type: "string", format: "binary", "x-media": "image" },
    },
  },
  backend: { type: "cog" },
} as unknown as Manifest;
const extras = { user: false, webhook: false };
const signal = new AbortController().signal;
const pictures = createPictures();
const media = createMedia({ pictures });
const net = createNet({ allowPrivateNetwork: true });
const megabyte = 1_048_576;
const paper = Buffer.alloc(200_000, "a");
let spoolDir: string;

beforeAll(async () => {
  spoolDir = join(await mkdtemp(join(tmpdir(), "held-")), "spool");
});
const spooled = () => readdir(spoolDir).catch(() => []);
beforeEach(async () => {
  expect(await spooled()).toEqual([]);
});
afterAll(async () => {
  await Promise.all([net.close(), media.close(), pictures.close()]);
  await rm(join(spoolDir, ".."), { recursive: true });
});

/** Copies, because the receiver frees them. */
function* pieces(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 65_536) yield Buffer.from(bytes.subarray(at, at + 65_536));
}
const streamed = (name: string, bytes: Buffer): FormFile => ({
  name,
  filename: `${name}.txt`,
  contentType: "text/plain",
  body: Readable.from(pieces(bytes)),
});
const formOf =
  (...files: FormFile[]): FormReader =>
  async ({ onFile }) => {
    const entries = [];
    for (const file of files) entries.push({ name: file.name, filename: file.filename, file: await onFile(file) });
    return { kind: "form", entries: [{ name: "prompt", value: "x" }, ...entries] };
  };
const hold = (form: FormReader, mayBeRepeat = false) =>
  receiveForm({ manifest, form, extras, spoolDir, mayBeRepeat: async () => mayBeRepeat, signal });
const read = (form: FormReader) =>
  readInput({
    manifest,
    form,
    extras,
    spoolDir,
    media,
    net,
    openStored: async () => undefined,
    userId: "one",
    hashes: true,
    signal,
  });
const issuesOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => [],
    (error) => (error instanceof Fault ? error.issues.map(({ type, loc }) => `${type} ${loc.at(-1)}`) : [error]),
  );

describe("a received form", () => {
  it("stores its files once, in memory or on disk", async () => {
    const inMemory: FormFile = { ...streamed("paper", paper), body: paper };
    const held = await hold(formOf(inMemory));
    expect(await spooled()).toEqual([]);
    const onDisk = await hold(formOf(streamed("paper", paper)));
    expect(onDisk.fingerprint).toBe(held.fingerprint);
    for (const { read: form } of [held, onDisk]) {
      const { input, files, dispose } = await read(form);
      expect(input.prompt).toBe("x");
      expect(files.map(({ field, size, filename }) => [field, size, filename])).toEqual([
        ["paper", paper.length, "paper.txt"],
      ]);
      const bytes = await buffer((await files[0]?.open()) ?? Readable.from([]));
      expect(createHash("sha256").update(bytes).digest("hex")).toBe(createHash("sha256").update(paper).digest("hex"));
      expect(await spooled()).toHaveLength(1);
      await dispose();
    }
    await held.dispose();
    await onDisk.dispose();
  });

  it("is checked when it is read, with all issues", async () => {
    const held = await hold(formOf(streamed("image", paper), streamed("other", paper), streamed("prompt", paper)));
    expect((await issuesOf(read(held.read))).sort()).toEqual([
      "extra_forbidden other",
      "extra_forbidden prompt",
      "invalid_image_format image",
    ]);
    await held.dispose();
  });

  it("reads no more of a file than its field allows, and leaves no file", async () => {
    const long = Buffer.alloc(30 * megabyte + 1);
    expect(await issuesOf(hold(formOf(streamed("paper", paper), streamed("image", long))))).toEqual([
      "file_too_large image",
    ]);
    expect(await issuesOf(hold(formOf(streamed("other", long))))).toEqual(["extra_forbidden other"]);
    expect(await issuesOf(hold(formOf(streamed("paper", paper), streamed("paper", long))))).toEqual([
      "extra_forbidden paper",
    ]);
  });

  it("is received completely if the model may have had other fields", async () => {
    const long = Buffer.alloc(30 * megabyte + 1);
    const prints = new Set<string>();
    for (const bytes of [long, Buffer.concat([long, long])]) {
      const held = await hold(formOf(streamed("image", bytes), streamed("other", bytes)), true);
      expect(await spooled()).toHaveLength(1);
      expect(await issuesOf(read(held.read))).toEqual(["file_too_large image"]);
      prints.add(held.fingerprint);
      await held.dispose();
    }
    expect(prints.size).toBe(2);
  });
});
