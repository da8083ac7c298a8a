import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { openFilesystemBlobs } from "../../engines/blobs/filesystem.ts";
import { loadOrCreateSigningCredentials } from "../../engines/blobs/signing-credentials.ts";
import { blobApi } from "../../http/blob-api/index.ts";
import { createServer } from "../../http/foundation/server.ts";
import { systemClock } from "../../kernel/clock.ts";
import { Fault } from "../../kernel/errors.ts";
import { createLog } from "../../kernel/log.ts";
import { everythingOf } from "../accounts/index.ts";
import { type FilesDeps, type LinkServedStore, parseS3Path } from "./index.ts";
import { openOwnedFile, presignDownload, signDownload } from "./read-files.ts";
import { storeOutput, storeUpload } from "./store-file.ts";
import { sweepAbandonedFiles } from "./sweep-abandoned-files.ts";
import { createUploadLink, findUploadTarget, recordUpload } from "./upload-links.ts";

const maxUploadBytes = 1_000_000;
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const ana = "usr_ana";
const bob = "usr_bob";

let home: string;
let deps: FilesDeps;
let app: FastifyInstance;
let base: string;
let drop: () => Promise<void>;

beforeAll(async () => {
  const fresh = await testDatabase();
  drop = fresh.drop;
  home = await mkdtemp(join(tmpdir(), "files-"));
  const clock = systemClock;
  const credentials = await loadOrCreateSigningCredentials(home);
  const blobs: LinkServedStore = await openFilesystemBlobs({ home, bucket: "gantry", credentials, clock });
  deps = { database: fresh.database, blobs, clock, maxUploadBytes };
  app = createServer({ log: createLog("silent"), publicUrl: undefined });
  await blobApi(app, {
    store: blobs,
    findUploadTarget: (key, bytes) => findUploadTarget(deps, key, bytes),
    recordUpload: (key, info) => recordUpload(deps, key, info),
  });
  base = await app.listen({ port: 0, host: "127.0.0.1" });
}, 60_000);

afterAll(async () => {
  await app.close();
  await deps.blobs.close();
  await drop();
  await rm(home, { recursive: true, force: true });
});

const keyOf = (s3Path: unknown) => parseS3Path(String(s3Path))?.key ?? "";
const rowOf = async (s3Path: unknown) => (await deps.database.sql`select * from files where key = ${keyOf(s3Path)}`)[0];
const rowCount = async () => (await deps.database.sql<{ n: number }[]>`select count(*)::int as n from files`)[0]?.n;
const objectCount = async () => {
  const entries = await readdir(join(home, "blobs"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
};

async function refusal(work: Promise<unknown>): Promise<unknown> {
  const error = await work.then(
    () => undefined,
    (thrown) => thrown,
  );
  if (!(error instanceof Fault)) return error ?? "accepted";
  const [issue] = error.issues;
  return [error.status, error.type, ...(error.status === 422 ? [issue.loc] : [issue.msg])];
}

const upload = (ownerId: string, content: Buffer | Readable, more: { filename?: string; declaredType?: string } = {}) =>
  storeUpload(deps, { ownerId, body: content instanceof Readable ? content : Readable.from([content]), base, ...more });
const sign = (ownerId: string, s3Path: unknown) => signDownload(deps, { ...everythingOf(ownerId), base, s3Path });
const noFile = [404, "not_found", "File not found"];

describe("POST /upload_file", () => {
  test("stores the stream and returns a download link", async () => {
    const answer = await upload(ana, png, { filename: "../mein Bild.txt", declaredType: "text/plain" });
    expect(answer).toEqual({
      url: expect.stringMatching(/[?&]X-Amz-Expires=86400&/),
      method: "GET",
      file_input: {
        s3_path: expect.stringMatching(/^s3:\/\/gantry\/uploads\/file_[0-9a-z]{26}\/mein_Bild\.txt$/),
        size: png.length,
        content_type: "image/png",
      },
    });
    expect(new URL(answer.url).searchParams.get("Expires")).toBe("86400");
    const got = await fetch(answer.url);
    expect([got.status, got.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect(Buffer.from(await got.arrayBuffer()).equals(png)).toBe(true);
    expect(await rowOf(answer.file_input?.s3_path)).toMatchObject({
      owner_id: ana,
      origin: "uploaded",
      state: "stored",
      size: png.length,
      content_type: "image/png",
    });
  });

  test("two uploads of one name are two files", async () => {
    const [first, second] = await Promise.all(
      ["one", "two"].map((text) => upload(ana, Buffer.from(text), { filename: "a" })),
    );
    expect(await (await fetch(first?.url ?? "")).text()).toBe("one");
    expect(await (await fetch(second?.url ?? "")).text()).toBe("two");
  });

  test("refuses a large file or a long name and stores nothing", async () => {
    const [rows, objects] = [await rowCount(), await objectCount()];
    expect(await refusal(upload(ana, randomBytes(maxUploadBytes + 1)))).toEqual([
      422,
      "file_too_large",
      ["body", "file"],
    ]);
    const long = upload(ana, png, { filename: "n".repeat(256) });
    expect(await refusal(long)).toEqual([422, "string_too_long", ["body", "file"]]);
    const longLink = upload(ana, png, { filename: "日".repeat(200) });
    expect(await refusal(longLink)).toEqual([422, "string_too_long", ["body", "file"]]);
    const broken = new PassThrough();
    broken.write(Buffer.alloc(10_000));
    const breaking = upload(ana, broken);
    setTimeout(() => broken.destroy(new Error("the client left")), 50);
    await expect(breaking).rejects.toThrow("the client left");
    expect([await rowCount(), await objectCount()]).toEqual([rows, objects]);
    expect((await upload(ana, randomBytes(maxUploadBytes))).file_input?.size).toBe(maxUploadBytes);
  });
});

describe("GET /upload_url", () => {
  test("returns a link that uploads a file of the caller", async () => {
    const answer = await createUploadLink(deps, {
      ownerId: ana,
      base,
      filename: "bild.png",
      contentType: "image/webp",
    });
    const { s3_path: s3Path } = answer.file_input ?? {};
    expect(answer).toEqual({
      url: expect.stringMatching(/[?&]X-Amz-Expires=86400&/),
      method: "PUT",
      file_input: {
        s3_path: expect.stringMatching(/^s3:\/\/gantry\/uploads\/file_.*\/bild\.png$/),
        expires_in: 86_400,
      },
    });
    // The caller's from now on, but there is nothing to read yet.
    expect(await rowOf(s3Path)).toMatchObject({ owner_id: ana, origin: "link", state: "awaiting", size: null });
    expect(await refusal(sign(ana, s3Path))).toEqual(noFile);

    expect((await fetch(answer.url, { method: "PUT", body: png })).status).toBe(200);
    expect(await rowOf(s3Path)).toMatchObject({ state: "stored", size: png.length, content_type: "image/png" });
    const signed = await sign(ana, s3Path);
    expect(signed.file_input).toEqual({ s3_path: s3Path, size: png.length, content_type: "image/png" });
    expect(Buffer.from(await (await fetch(signed.url)).arrayBuffer()).equals(png)).toBe(true);
    expect(await refusal(sign(bob, s3Path))).toEqual(noFile);

    // The link lives on: what it brings replaces what was there.
    expect(
      (await fetch(answer.url, { method: "PUT", body: Buffer.from("a,b"), headers: { "content-type": "text/csv" } }))
        .status,
    ).toBe(200);
    expect((await sign(ana, s3Path)).file_input).toEqual({ s3_path: s3Path, size: 3, content_type: "text/csv" });
  });

  test("limits the size of an upload by link", async () => {
    const answer = await createUploadLink(deps, { ownerId: ana, base });
    const sent = await fetch(answer.url, { method: "PUT", body: Buffer.alloc(maxUploadBytes + 1) });
    expect(sent.status).toBe(422);
    expect(await refusal(sign(ana, answer.file_input?.s3_path))).toEqual(noFile);
  });

  test("refuses an invalid name or type", async () => {
    const link = (query: { filename?: unknown; contentType?: unknown }) =>
      createUploadLink(deps, { ownerId: ana, base, ...query });
    const rows = await rowCount();
    expect(await refusal(link({ filename: "n".repeat(256) }))).toEqual([422, "string_too_long", ["query", "filename"]]);
    expect(await refusal(link({ filename: "日".repeat(200) }))).toEqual([
      422,
      "string_too_long",
      ["query", "filename"],
    ]);
    expect(await refusal(link({ filename: ["a", "b"] }))).toEqual([422, "string_type", ["query", "filename"]]);
    expect(await refusal(link({ contentType: "png" }))).toEqual([422, "value_error", ["query", "content_type"]]);
    expect(await rowCount()).toBe(rows);
    expect((await link({ filename: "", contentType: "" })).file_input?.s3_path).toMatch(/\/file$/);
  });

  test("an upload to an external store is checked at first use", async () => {
    // Like S3: the bytes arrive in the store without notice.
    const bring = async (content: Buffer) => {
      const { file_input } = await createUploadLink(deps, { ownerId: ana, base, filename: "x.bin" });
      await deps.blobs.put(keyOf(file_input?.s3_path), content, { contentType: "binary/octet-stream" });
      return file_input?.s3_path;
    };
    const fits = await bring(png);
    expect((await sign(ana, fits)).file_input).toEqual({ s3_path: fits, size: png.length, content_type: "image/png" });
    expect(await rowOf(fits)).toMatchObject({ state: "stored", size: png.length, content_type: "image/png" });

    const large = await bring(Buffer.alloc(maxUploadBytes + 1));
    expect(await refusal(sign(ana, large))).toEqual([422, "file_too_large", ["query", "s3_path_to_sign"]]);
    expect(await deps.blobs.stat(keyOf(large))).toBeUndefined();
    expect(await refusal(sign(ana, large))).toEqual(noFile);
    const loc = ["body", "image"];
    const input = await bring(Buffer.alloc(maxUploadBytes + 1));
    expect(await refusal(openOwnedFile(deps, { ...everythingOf(ana), s3Path: String(input), loc }))).toEqual([
      422,
      "file_too_large",
      loc,
    ]);
  });
});

describe("GET /download_s3_url", () => {
  test("signs only the caller's own files", async () => {
    const { file_input } = await upload(ana, png);
    const own = String(file_input?.s3_path);
    expect((await sign(ana, own)).method).toBe("GET");
    expect(await refusal(sign(bob, own))).toEqual(noFile);
    expect(await refusal(sign(ana, own.replace("s3://gantry/", "s3://other/")))).toEqual(noFile);
    expect(await refusal(sign(ana, `${own}x`))).toEqual(noFile);
    expect(await refusal(sign(ana, "s3://gantry/uploads/../uploads/x"))).toEqual(noFile);
  });

  test("names the missing or invalid parameter", async () => {
    const loc = ["query", "s3_path_to_sign"];
    expect(await refusal(sign(ana, undefined))).toEqual([422, "missing", loc]);
    expect(await refusal(sign(ana, ["s3://gantry/a", "s3://gantry/b"]))).toEqual([422, "string_type", loc]);
    for (const wrong of ["", "uploads/x", "https://gantry/x", "s3://gantry", "s3://gantry/a\0b"]) {
      expect(await refusal(sign(ana, wrong))).toEqual([422, "url_parsing", loc]);
    }
  });
});

describe("files of predictions", () => {
  test("an output belongs to the caller", async () => {
    for (const body of [png, Readable.from([png])]) {
      const file = { kind: "file", contentType: "image/webp", body } as const;
      const output = await storeOutput(deps, { ownerId: bob, predictionId: "pred_1", field: "image", file });
      expect(output).toEqual({
        s3Path: expect.stringMatching(/^s3:\/\/gantry\/outputs\/pred_1\/file_[0-9a-z]{26}\/image\.png$/),
        size: png.length,
        contentType: "image/png",
      });
      expect(await rowOf(output.s3Path)).toMatchObject({ owner_id: bob, origin: "output", prediction_id: "pred_1" });
      expect((await sign(bob, output.s3Path)).file_input?.size).toBe(png.length);
      expect(await refusal(sign(ana, output.s3Path))).toEqual(noFile);
      const link = await presignDownload(deps, { s3Path: output.s3Path, base });
      expect(link).toEqual({ url: expect.any(String), method: "GET", file_input: null });
      expect((await fetch(link.url)).status).toBe(200);
    }
    await expect(presignDownload(deps, { s3Path: "s3://other/x", base })).rejects.toThrow("s3://other/x");
  });

  test("an output that is too large is an upstream error, and its stream is destroyed", async () => {
    const body = Readable.from([randomBytes(maxUploadBytes), randomBytes(1)]);
    const file = { kind: "file", contentType: "image/png", body } as const;
    const [rows, objects] = [await rowCount(), await objectCount()];
    const storing = storeOutput(deps, { ownerId: bob, predictionId: "pred_2", field: "image", file });
    expect(await refusal(storing)).toEqual([502, "downstream_service_error", expect.any(String)]);
    expect(body.destroyed).toBe(true);
    expect([await rowCount(), await objectCount()]).toEqual([rows, objects]);
  });

  test("an abort leaves no output", async () => {
    const [rows, objects] = [await rowCount(), await objectCount()];
    const controller = new AbortController();
    const body = new PassThrough();
    body.write(Buffer.alloc(10_000));
    const file = { kind: "file", contentType: "image/png", body } as const;
    const request = { ownerId: bob, predictionId: "pred_3", field: "image", file, signal: controller.signal };
    const storing = storeOutput(deps, request);
    setTimeout(() => controller.abort(new Error("cancelled")), 50);
    await expect(storing).rejects.toThrow("cancelled");
    expect([await rowCount(), await objectCount()]).toEqual([rows, objects]);
  });

  test("an input opens only the caller's own file, any number of times", async () => {
    const { file_input } = await upload(ana, png, { filename: "in.png" });
    const request = { ...everythingOf(ana), s3Path: String(file_input?.s3_path), loc: ["body", "image"] };
    const file = await openOwnedFile(deps, request);
    expect(file).toMatchObject({ filename: "in.png", size: png.length, contentType: "image/png" });
    for (let i = 0; i < 2; i++) {
      expect(Buffer.concat((await (await file?.open())?.toArray()) ?? []).equals(png)).toBe(true);
    }
    expect(await openOwnedFile(deps, { ...request, userId: bob })).toBeUndefined();
    expect(await openOwnedFile(deps, { ...request, s3Path: "https://example.com/x" })).toBeUndefined();
    await deps.blobs.delete(keyOf(request.s3Path));
    expect(await openOwnedFile(deps, request)).toBeUndefined();
    expect(await refusal(file?.open() ?? Promise.resolve())).toEqual([422, "file_download_error", ["body", "image"]]);
  });
});

describe("the sweep", () => {
  test("deletes files that never arrived and keeps the others", async () => {
    const unused = await createUploadLink(deps, { ownerId: ana, base });
    const untold = await createUploadLink(deps, { ownerId: ana, base, filename: "a.png" });
    await deps.blobs.put(keyOf(untold.file_input?.s3_path), png, { contentType: "image/png" });
    const whole = await upload(ana, png);
    // What a process that died between the bytes and the second row leaves.
    const half = await upload(ana, png);
    await deps.database.sql`
      update files set state = 'awaiting', size = null, etag = null where key = ${keyOf(half.file_input?.s3_path)}`;

    const sweep = (now: Date) => sweepAbandonedFiles(deps, now, createLog("silent"));
    await sweep(new Date());
    expect(await rowOf(unused.file_input?.s3_path)).toBeDefined();
    const later = new Date(Date.now() + 25.5 * 3_600_000);
    expect((await sweep(later)).looked).toBeGreaterThanOrEqual(3);
    expect(await sweep(later)).toEqual({ looked: 0, dropped: 0 });
    expect(await rowOf(unused.file_input?.s3_path)).toBeUndefined();
    expect(await rowOf(half.file_input?.s3_path)).toBeUndefined();
    expect(await deps.blobs.stat(keyOf(half.file_input?.s3_path))).toBeUndefined();
    expect(await rowOf(untold.file_input?.s3_path)).toMatchObject({ state: "stored", size: png.length });
    expect((await sign(ana, whole.file_input?.s3_path)).method).toBe("GET");
    // A late upload by a link that was given up is not kept either.
    expect((await fetch(unused.url, { method: "PUT", body: png })).status).toBe(404);
    const info = await deps.blobs.put("uploads/gone", png, { contentType: "image/png" });
    expect(await refusal(recordUpload(deps, "uploads/gone", info))).toEqual(noFile);
    expect(await deps.blobs.stat("uploads/gone")).toBeUndefined();
  });
});
