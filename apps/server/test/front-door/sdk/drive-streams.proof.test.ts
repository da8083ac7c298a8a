import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { maxDriveFileBytes } from "@gantry/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createClient, type GantryClient } from "../../../../../packages/sdk/src/index.ts";
import { startCuttableLine } from "../../../../../packages/sdk/test/cuttable-line.ts";
import { failureOf } from "../../support/failure-of.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let client: GantryClient;
let drive: string;

beforeAll(async () => {
  gantry = await startGantry();
  client = createClient({ url: gantry.url, key: gantry.adminKey });
});
afterAll(() => gantry.close());
beforeEach(async () => {
  drive = (await client.drives.create({ name: "work" })).id;
});

const textAt = async (path: string) => (await client.drives.files.download(drive, path)).text();
const pathsOf = async () => Array.fromAsync(client.drives.eachItem(drive), ({ path }) => path);
const storedBlobs = async () =>
  (await readdir(join(gantry.home, "blobs"), { recursive: true, withFileTypes: true })).filter((one) => one.isFile())
    .length;

/** Distinct chunks that are never in memory together. */
function* pieces(bytes: number): Generator<Uint8Array> {
  const size = 65_536;
  for (let at = 0; at < bytes; at += size) {
    const piece = Buffer.alloc(Math.min(size, bytes - at), "gantry");
    piece.writeDoubleLE(at, 0);
    yield piece;
  }
}

async function* slowly(bytes: number): AsyncGenerator<Uint8Array> {
  yield* pieces(bytes);
}

function digestOf(bytes: number): string {
  const hash = createHash("sha256");
  for (const piece of pieces(bytes)) hash.update(piece);
  return hash.digest("hex");
}

describe("large files", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const mebibyte = 1_048_576;

  /** Freed memory is counted only some time after its collection. */
  async function held(): Promise<number> {
    const seen: number[] = [];
    for (let n = 0; n < 3; n++) {
      collect();
      await sleep(10);
      seen.push(process.memoryUsage().arrayBuffers);
    }
    return Math.min(...seen);
  }

  test("are streamed up and down in constant memory", async () => {
    const bytes = 40 * mebibyte;
    const before = await held();
    const atTheEnd: number[] = [];
    async function* watched(): AsyncGenerator<Uint8Array> {
      yield* pieces(bytes);
      atTheEnd.push(await held());
    }
    await client.drives.files.upload(drive, "/large", watched());
    await client.drives.files.replace(drive, "/large", watched());
    const { body } = await client.drives.files.download(drive, "/large");
    const hash = createHash("sha256");
    let arrived = 0;
    for await (const piece of body ?? []) {
      hash.update(piece);
      arrived += piece.length;
      if (arrived === bytes) atTheEnd.push(await held());
    }
    expect([arrived, hash.digest("hex")]).toEqual([bytes, digestOf(bytes)]);
    expect(atTheEnd.length).toBe(3);
    // Both ends are in this process, and each would hold 40 MiB.
    expect(Math.max(...atTheEnd) - before).toBeLessThan(30 * mebibyte);
  });

  test("are streamed from one drive to another", async () => {
    await client.drives.files.upload(drive, "/large", slowly(5 * mebibyte));
    const other = (await client.drives.create({ name: "copy" })).id;
    const { body } = await client.drives.files.download(drive, "/large");
    await client.drives.files.upload(other, "/large", body ?? "");
    const copy = await client.drives.files.download(other, "/large");
    expect(
      createHash("sha256")
        .update(await copy.bytes())
        .digest("hex"),
    ).toBe(digestOf(5 * mebibyte));
  });

  test("that are too large are refused, at once if their size is known, and leave no file", async () => {
    await client.drives.files.upload(drive, "/f", "small");
    const before = await storedBlobs();
    const whole = new Blob(Array(101).fill(new Uint8Array(mebibyte)));
    let taken = 0;
    let isClosed = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      const piece = new Uint8Array(mebibyte);
      try {
        for (;;) {
          taken += piece.length;
          yield piece;
        }
      } finally {
        isClosed = true;
      }
    }
    for (const content of [() => whole, endless]) {
      for (const call of [client.drives.files.upload, client.drives.files.replace]) {
        isClosed = false;
        const path = call === client.drives.files.upload ? "/large" : "/f";
        const failure = await failureOf(call(drive, path, content()));
        expect(failure).toMatchObject({ status: 413, type: "file_too_large", retryable: false });
        expect(failure.details).toEqual({ max_size: maxDriveFileBytes });
        if (content === endless) await waitFor("the stream to be closed", () => isClosed);
      }
    }
    expect(taken).toBeGreaterThan(2 * maxDriveFileBytes);
    expect(await textAt("/f")).toBe("small");
    expect(await pathsOf()).toEqual(["/f"]);
    await waitFor("what arrived to be thrown away", async () => (await storedBlobs()) === before);
  });
});

describe("an incomplete upload", () => {
  /** Sends a little, then hangs. */
  function stalling() {
    const stream = new PassThrough();
    stream.write("a little");
    return stream;
  }

  test("is aborted, whatever its source, and leaves no file", async () => {
    await client.drives.files.upload(drive, "/f", "old");
    const before = await storedBlobs();
    let isCancelled = false;
    const web = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: () => {
        isCancelled = true;
      },
    });
    const node = [stalling(), stalling()] as const;
    for (const start of [
      (signal: AbortSignal) => client.drives.files.upload(drive, "/new", node[0], { signal }),
      (signal: AbortSignal) => client.drives.files.replace(drive, "/f", node[1], { signal }),
      (signal: AbortSignal) => client.drives.files.replace(drive, "/f", web, { signal }),
    ]) {
      const leaving = new AbortController();
      const writing = start(leaving.signal);
      setTimeout(() => leaving.abort(new Error("enough")), 100);
      await expect(writing).rejects.toThrow("enough");
    }
    expect(node.map(({ destroyed }) => destroyed)).toEqual([true, true]);
    expect(isCancelled).toBe(true);
    const refused = stalling();
    await expect(
      client.drives.files.upload(drive, "/new", refused, { signal: AbortSignal.abort(new Error("before")) }),
    ).rejects.toThrow("before");
    expect(refused.destroyed).toBe(true);
    expect(await pathsOf()).toEqual(["/f"]);
    expect(await textAt("/f")).toBe("old");
    await waitFor("what arrived to be thrown away", async () => (await storedBlobs()) === before);
  });

  test("fails with its stream's error", async () => {
    await client.drives.files.upload(drive, "/f", "old");
    const broken = new RangeError("the disk is gone");
    async function* breaking(): AsyncGenerator<Uint8Array> {
      yield* pieces(200_000);
      throw broken;
    }
    const torn = () => {
      const stream = stalling();
      setTimeout(() => stream.destroy(broken), 50);
      return stream;
    };
    for (const content of [breaking, torn]) {
      await expect(client.drives.files.upload(drive, "/new", content())).rejects.toBe(broken);
      await expect(client.drives.files.replace(drive, "/f", content())).rejects.toBe(broken);
    }
    expect(await pathsOf()).toEqual(["/f"]);
    expect(await textAt("/f")).toBe("old");
  });

  test("over a broken connection fails and is not retried", async () => {
    const line = await startCuttableLine(gantry.url);
    const sent: string[] = [];
    const counted: typeof fetch = (input, init) => {
      sent.push(init?.method ?? "GET");
      return fetch(input, init);
    };
    const shaky = createClient({ url: line.url, key: gantry.adminKey, fetch: counted });
    const stream = stalling();
    setTimeout(() => line.cut(), 100);
    const failure = await failureOf(shaky.drives.files.upload(drive, "/new", stream));
    expect(failure).toMatchObject({ status: 0, type: "connection_error", retryable: true });
    expect([sent, stream.destroyed]).toEqual([["POST"], true]);
    line.isDown = true;
    const never = stalling();
    expect(await failureOf(shaky.drives.files.upload(drive, "/new", never))).toMatchObject({ status: 0 });
    expect([sent, never.destroyed]).toEqual([["POST", "POST"], true]);
    await line.close();
    expect(await pathsOf()).toEqual([]);
  });
});

test("a download can be aborted", async () => {
  await client.drives.files.upload(drive, "/large", slowly(20_000_000));
  const leaving = new AbortController();
  const { body } = await client.drives.files.download(drive, "/large", { signal: leaving.signal });
  let arrived = 0;
  const reading = (async () => {
    for await (const piece of body ?? []) {
      arrived += piece.length;
      leaving.abort(new Error("enough"));
    }
  })();
  await expect(reading).rejects.toThrow("enough");
  expect(arrived).toBeGreaterThan(0);
  expect(arrived).toBeLessThan(20_000_000);
});
