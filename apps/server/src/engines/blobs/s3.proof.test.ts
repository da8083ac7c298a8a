import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { testS3 } from "../../../test/support/s3.ts";
import type { SwiftNode } from "../../../test/support/swift-node.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { everythingOf } from "../../features/accounts/index.ts";
import { type Files, openFiles, parseS3Path } from "../../features/files/index.ts";
import { systemClock } from "../../kernel/clock.ts";
import { Fault } from "../../kernel/errors.ts";
import { createLog } from "../../kernel/log.ts";
import type { Database } from "../database/database.ts";
import { blobContract } from "./blobs.contract.ts";
import type { BlobStore } from "./blobs.ts";
import { openS3Blobs, type S3Options } from "./s3.ts";
import { abortAbandonedUploads } from "./s3-abandoned.ts";
import { createS3Call } from "./s3-calls.ts";
import { guardDownload } from "./s3-download.ts";

const server = await testS3();
const stores: BlobStore[] = [];
const text = { contentType: "text/plain" };
const partBytes = 8 * 1024 * 1024;

afterAll(async () => {
  for (const store of stores) await store.close();
  await server?.stop();
});

async function openStore(options: Partial<S3Options> = {}): Promise<BlobStore> {
  if (!server) throw new Error("the S3 server is not running");
  const store = await openS3Blobs({ ...server, ...options });
  stores.push(store);
  return store;
}

async function refusal(work: Promise<unknown>): Promise<unknown> {
  const error = await work.then(
    () => undefined,
    (thrown) => thrown,
  );
  return error instanceof Fault ? [error.type, error.status, error.retryable] : error;
}
const unavailable = ["service_unavailable", 503, true];

if (server)
  blobContract("s3", async () => ({ blobs: await openStore(), base: "", request: fetch, close: async () => {} }));

describe.skipIf(!server)("uploads in parts", () => {
  const admin = server && new S3Client({ ...server, forcePathStyle: true, credentials: server });
  const Bucket = server?.bucket;
  const begun = async () => (await admin?.send(new ListMultipartUploadsCommand({ Bucket })))?.Uploads ?? [];
  const chunked = (bytes: Buffer, size: number) =>
    Readable.from(
      (function* () {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
      })(),
    );

  afterAll(() => admin?.destroy());

  test("keep every byte, for any chunks and lengths", async () => {
    const blobs = await openStore();
    for (const [length, chunk] of [
      [partBytes - 1, 1_000_003],
      [partBytes, 65_536],
      [partBytes + 1, 65_537],
      [2 * partBytes, 3 * partBytes],
      [2 * partBytes + 12_345, 777_777],
    ] as const) {
      const content = randomBytes(length);
      for (const body of [chunked(content, chunk), content]) {
        const key = `parts/${randomBytes(6).toString("hex")}`;
        const info = await blobs.put(key, body, { ...text, maxBytes: length });
        expect(info).toMatchObject({ size: length, contentType: "text/plain" });
        expect(await blobs.stat(key)).toMatchObject({ size: length, contentType: "text/plain", etag: info.etag });
        const opened = await blobs.open(key);
        expect(Buffer.concat((await opened?.body.toArray()) ?? []).equals(content)).toBe(true);
        await blobs.delete(key);
      }
    }
    expect(await begun()).toEqual([]);
  }, 60_000);

  test("leave nothing if the body is too long, breaks or is aborted, and keep an existing object", async () => {
    const blobs = await openStore();
    const key = "parts/nothing-left";
    const kept = await blobs.put(key, Buffer.from("kept"), text);
    const stored = await server?.storedFiles();
    const endless = () => chunked(Buffer.alloc(40 * 1024 * 1024), 65_536);

    expect(await refusal(blobs.put(key, endless(), { ...text, maxBytes: 2.5 * partBytes }))).toEqual([
      "file_too_large",
      422,
      false,
    ]);
    const controller = new AbortController();
    const stalling = new PassThrough();
    const aborted = blobs.put(key, stalling, { ...text, signal: controller.signal });
    aborted.catch(() => {});
    for (let i = 0; i < 300; i++) if (!stalling.write(Buffer.alloc(65_536))) await sleep(1);
    await waitFor("the first part", async () => ((await server?.storedFiles()) ?? 0) > (stored ?? 0) + 1, 30_000);
    expect(await begun()).toHaveLength(1);
    controller.abort(new Error("the client left"));
    await expect(aborted).rejects.toThrow("the client left");

    const breaking = new PassThrough();
    const broken = blobs.put(key, breaking, text);
    broken.catch(() => {});
    for (let i = 0; i < 300; i++) if (!breaking.write(Buffer.alloc(65_536))) await sleep(1);
    breaking.destroy(new Error("broken body"));
    await expect(broken).rejects.toThrow("broken body");

    expect(await begun()).toEqual([]);
    expect(await server?.storedFiles()).toBe(stored);
    expect(await blobs.stat(key)).toMatchObject({ size: 4, etag: kept.etag });
  }, 60_000);

  test("accept a body of single bytes without an object for each", async () => {
    const blobs = await openStore();
    setFlagsFromString("--expose-gc");
    const collectGarbage: () => void = runInNewContext("gc");
    const heap = () => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const bytes = 300_000;
    const before = heap();
    let held = 0;
    const body = Readable.from(
      (async function* () {
        for (let i = 0; i < bytes; i++) {
          // As on a network: the stream itself buffers bytes that arrive in one tick.
          if (i % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
          yield Buffer.of(i & 255);
        }
        held = heap() - before;
      })(),
    );
    expect(await blobs.put("parts/single-bytes", body, text)).toMatchObject({ size: bytes });
    expect(held).toBeLessThan(5_000_000);
  }, 60_000);

  test("of a dead process are aborted after a day, and not before", async () => {
    const Key = "parts/abandoned";
    const { UploadId } = (await admin?.send(new CreateMultipartUploadCommand({ Bucket, Key }))) ?? {};
    await admin?.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: Buffer.alloc(1000) }));
    const stored = (await server?.storedFiles()) ?? 0;
    await (await openStore()).close(); // Removes them at start.
    expect(await begun()).toHaveLength(1);
    // The store's own clock cannot be moved: the server would refuse its signatures.
    const call = createS3Call(admin as S3Client);
    const tomorrow = new Date(Date.now() + 25 * 3_600_000);
    expect(await abortAbandonedUploads(call, String(Bucket), tomorrow)).toBe(1);
    expect(await begun()).toEqual([]);
    expect(await server?.storedFiles()).toBeLessThan(stored);
  });
});

describe.skipIf(!server)("a file that is taken over", () => {
  test("stays in place if it cannot be stored", async () => {
    const folder = await mkdtemp(join(tmpdir(), "s3-take-over-"));
    const path = join(folder, "made elsewhere");
    await writeFile(path, "made elsewhere");
    const blobs = await openStore({ patienceMs: 5000 });
    await server?.kill();
    try {
      expect(await refusal(blobs.putFile("taken", path, text))).toEqual(unavailable);
      await server?.start();
      expect(await blobs.putFile("taken", path, text)).toMatchObject({ size: 14 });
    } finally {
      await server?.start();
      await rm(folder, { recursive: true });
    }
  }, 60_000);
});

describe.skipIf(!server)("links", () => {
  test("point to the server, or to its public endpoint", async () => {
    const blobs = await openStore();
    const { url } = await blobs.signGet("a/b c", { base: "http://gantry.example", expiresInSeconds: 60, ...text });
    expect(url.startsWith(`${server?.endpoint}/${server?.bucket}/a/b%20c?`)).toBe(true);
    const behind = await openStore({ publicEndpoint: "https://files.example/store" });
    const link = await behind.signPut("a", { base: "http://gantry.example", expiresInSeconds: 60 });
    expect(link.url.startsWith(`https://files.example/store/${server?.bucket}/a?`)).toBe(true);
  });
});

describe.skipIf(!server)("the type of a download", () => {
  test.each([
    ["image/png", "inline"],
    ["text/html", "attachment"],
  ])("is that of the link, not that of the upload: %s", async (contentType, disposition) => {
    const blobs = await openStore();
    const signing = { base: "", expiresInSeconds: 60 };
    const { url: target } = await blobs.signPut("typed", signing);
    const headers = { "content-type": "image/png;,text/html" };
    expect((await fetch(target, { method: "PUT", body: "<script></script>", headers })).status).toBe(200);
    const answer = await fetch((await blobs.signGet("typed", { ...signing, contentType })).url);
    expect(answer.headers.get("content-type")).toBe(contentType);
    expect(answer.headers.get("content-disposition")).toBe(disposition);
  });
});

describe.skipIf(!server)("a server that is away", () => {
  const idle = { base: "", expiresInSeconds: 60, ...text };

  test("makes every call a retryable 503 and is used again once it is back", async () => {
    const blobs = await openStore({ patienceMs: 5000 });
    await blobs.put("outage/kept", Buffer.from("kept"), text);
    await server?.kill();
    const calls = [
      () => blobs.put("outage/new", Buffer.from("x"), text),
      () => blobs.put("outage/new", Readable.from([Buffer.alloc(20_000_000)]), text),
      () => blobs.stat("outage/kept"),
      () => blobs.open("outage/kept"),
      () => blobs.delete("outage/kept"),
    ];
    for (const work of calls) expect(await refusal(work())).toEqual(unavailable);
    // Making a link needs no server.
    expect((await blobs.signGet("outage/kept", idle)).method).toBe("GET");
    await server?.start();
    expect(await blobs.stat("outage/kept")).toMatchObject({ size: 4 });
    expect(await blobs.stat("outage/new")).toBeUndefined();
  }, 60_000);

  test("that accepts connections but does not answer keeps no call waiting", async () => {
    const blobs = await openStore({ patienceMs: 3000 });
    await blobs.put("outage/kept", Buffer.from("kept"), text);
    server?.pause();
    try {
      const began = performance.now();
      const answers = await Promise.all([
        refusal(blobs.stat("outage/kept")),
        refusal(blobs.open("outage/kept")),
        refusal(blobs.put("outage/silent", Buffer.from("x"), text)),
      ]);
      expect(answers).toEqual([unavailable, unavailable, unavailable]);
      expect(performance.now() - began).toBeLessThan(20_000);
      const controller = new AbortController();
      const body = new PassThrough();
      const waiting = blobs.put("outage/aborted", body, { ...text, signal: controller.signal });
      body.write("x");
      controller.abort(new Error("left"));
      await expect(waiting).rejects.toThrow("left");
    } finally {
      server?.resume();
    }
    expect(await blobs.stat("outage/kept")).toMatchObject({ size: 4 });
  }, 60_000);

  test("in the middle of a download ends it with the same fault", async () => {
    const blobs = await openStore();
    await blobs.put("outage/large", Buffer.alloc(30_000_000), text);
    const opened = await blobs.open("outage/large");
    const read = (async () => {
      for await (const _ of opened?.body ?? []) await server?.kill();
    })();
    expect(await refusal(read)).toEqual(unavailable);
    await server?.start();
  }, 60_000);
});

describe.skipIf(!server)("a download", () => {
  test("that falls silent ends, and a reader that takes its time is waited for", async () => {
    const blobs = await openStore();
    const Key = "stall/large";
    await blobs.put(Key, Buffer.alloc(30_000_000), text);
    const node = server as SwiftNode;
    const client = new S3Client({ ...node, forcePathStyle: true, credentials: node });
    const download = async () => {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: blobs.bucket, Key }));
      return guardDownload(Body, 3000);
    };
    let size = 0;
    for await (const chunk of await download()) {
      if (size === 0) await sleep(5000);
      size += chunk.length;
    }
    expect(size).toBe(30_000_000);
    const silent = await download();
    const read = (async () => {
      for await (const _ of silent) server?.pause();
    })();
    try {
      expect(await refusal(read)).toEqual(unavailable);
    } finally {
      server?.resume();
      client.destroy();
    }
  }, 60_000);
});

describe.skipIf(!server)("the start", () => {
  test("makes a bucket that is missing, also when several nodes start at once", async () => {
    const bucket = `made-${randomBytes(4).toString("hex")}`;
    const nodes = await Promise.all([1, 2, 3].map(() => openStore({ bucket })));
    await nodes[0]?.put("k", Buffer.from("x"), text);
    expect(await nodes[2]?.stat("k")).toMatchObject({ size: 1 });
  });

  test("is refused with the reason: address, secret, region, name of the bucket", async () => {
    const open = (options: Partial<S3Options>) => openStore({ patienceMs: 10_000, ...options });
    await expect(open({ endpoint: "http://127.0.0.1:1" })).rejects.toThrow(
      /127\.0\.0\.1:1 cannot be used.*ECONNREFUSED/,
    );
    await expect(open({ secretAccessKey: "wrong" })).rejects.toThrow(/cannot be used: SignatureDoesNotMatch/);
    await expect(open({ accessKeyId: "stranger" })).rejects.toThrow(/cannot be used: SignatureDoesNotMatch/);
    await expect(open({ region: "elsewhere-1" })).rejects.toThrow(/cannot be used: AuthorizationHeaderMalformed/);
    await expect(open({ bucket: "Not A Bucket" })).rejects.toThrow(/bucket Not A Bucket/);
  }, 60_000);
});

/** Swift hides a full disk behind a 503; what other servers answer is written down here, byte for byte. */
describe("a store without room", () => {
  const full: Record<string, [status: number, code: string]> = {
    minio: [507, "XMinioStorageFull"],
    ceph: [403, "QuotaExceeded"],
    swift: [400, "EntityTooLarge"],
  };
  for (const [name, [status, code]] of Object.entries(full)) {
    test(`is storage_full, as ${name} says it`, async () => {
      const answering = createServer((request, response) => {
        request.resume().on("end", () => {
          if (request.method === "HEAD" || request.method === "GET") response.end();
          else
            response
              .writeHead(status, { "content-type": "application/xml" })
              .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>full</Message></Error>`);
        });
      });
      await new Promise<void>((resolve) => answering.listen(0, "127.0.0.1", resolve));
      const endpoint = `http://127.0.0.1:${(answering.address() as AddressInfo).port}`;
      const keys = { accessKeyId: "a", secretAccessKey: "b" };
      const blobs = await openS3Blobs({ endpoint, bucket: "gantry", region: "r", ...keys });
      try {
        expect(await refusal(blobs.put("k", Buffer.from("x"), text))).toEqual(["storage_full", 507, true]);
      } finally {
        await blobs.close();
        answering.close();
      }
    }, 20_000);
  }
});

describe.skipIf(!server)("what an upload link brings without us", () => {
  const maxUploadBytes = 1000;
  const ownerId = "usr_ana";
  const loc = ["body", "image"];
  let files: Files;
  let stored: { database: Database; blobs: BlobStore };
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const fresh = await testDatabase();
    drop = fresh.drop;
    stored = { database: fresh.database, blobs: await openStore() };
    files = openFiles({ ...stored, clock: systemClock, maxUploadBytes });
  });
  afterAll(() => drop());

  const send = async (bytes: number) => {
    const link = await files.createUploadLink({ ownerId, base: "http://gantry.example", filename: "a.txt" });
    const s3Path = String(link.file_input?.s3_path);
    const answer = await fetch(link.url, { method: "PUT", body: Buffer.alloc(bytes, "x") });
    return { s3Path, url: link.url, status: answer.status, key: parseS3Path(s3Path)?.key ?? "" };
  };

  test("is a file as soon as it is used, by its owner alone", async () => {
    const { s3Path, status } = await send(maxUploadBytes);
    expect(status).toBe(200);
    const file = await files.openOwnedFile({ ...everythingOf(ownerId), s3Path, loc });
    expect(file).toMatchObject({ size: maxUploadBytes, filename: "a.txt", contentType: "text/plain" });
    expect(Buffer.concat((await (await file?.open())?.toArray()) ?? []).length).toBe(maxUploadBytes);
    expect(await files.openOwnedFile({ ...everythingOf("usr_bob"), s3Path, loc })).toBeUndefined();
    const { url } = await files.signDownload({ ...everythingOf(ownerId), base: "http://gantry.example", s3Path });
    expect(url.startsWith(String(server?.endpoint))).toBe(true);
    expect(await (await fetch(url)).text()).toBe("x".repeat(maxUploadBytes));
  });

  test("and is larger than it may be is deleted at first use, and said", async () => {
    const { s3Path, status, key, url } = await send(maxUploadBytes + 1);
    expect(status).toBe(200);
    const error = await files.openOwnedFile({ ...everythingOf(ownerId), s3Path, loc }).catch((thrown) => thrown);
    expect(error).toMatchObject({ type: "file_too_large", status: 422, issues: [{ loc, ctx: { max_size: 1000 } }] });
    expect(await stored.blobs.stat(key)).toBeUndefined();
    expect(await files.openOwnedFile({ ...everythingOf(ownerId), s3Path, loc })).toBeUndefined();
    // The address stays the owner's: the same link may bring what fits.
    expect((await fetch(url, { method: "PUT", body: "fits" })).status).toBe(200);
    expect(await files.openOwnedFile({ ...everythingOf(ownerId), s3Path, loc })).toMatchObject({ size: 4 });
  });

  test("that was not downloaded is kept if it fits and removed otherwise", async () => {
    const kept = await send(10);
    const large = await send(maxUploadBytes + 1);
    const never = await files.createUploadLink({ ownerId, base: "http://gantry.example" });
    await files.sweepAbandonedFiles(new Date(Date.now() + 26 * 3_600_000), createLog("silent"));
    const rows = await stored.database.sql<{ key: string }[]>`select key from files`;
    const keys = rows.map((row) => row.key);
    expect(keys).toContain(kept.key);
    expect(keys).not.toContain(large.key);
    expect(keys).not.toContain(parseS3Path(String(never.file_input?.s3_path))?.key);
    expect(await stored.blobs.stat(kept.key)).toMatchObject({ size: 10 });
    expect(await stored.blobs.stat(large.key)).toBeUndefined();
  });
});
