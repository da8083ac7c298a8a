import { randomBytes } from "node:crypto";
import { access, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Fault } from "../../kernel/errors.ts";
import type { BlobStore } from "./blobs.ts";

export interface BlobContractSubject {
  blobs: BlobStore;
  /** Base URL of the store's links; any URL for a driver with an address of its own. */
  base: string;
  /** Follows a signed link by real HTTP. */
  request(url: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const bytesOf = async (body: Readable) => Buffer.concat(await body.toArray());

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown) => thrown,
  );
  return error instanceof Fault ? error.type : String(error);
}

export function blobContract(name: string, create: () => Promise<BlobContractSubject>): void {
  describe(`the blob contract: ${name}`, () => {
    let subject: BlobContractSubject;
    let blobs: BlobStore;
    let scratch: string;
    const text = { contentType: "text/plain" };
    const newKey = () => `contract/${randomBytes(8).toString("hex")}/file.txt`;
    const read = async (key: string, range?: { start: number; end: number }) => {
      const opened = await blobs.open(key, range);
      return opened && (await bytesOf(opened.body)).toString();
    };

    beforeAll(async () => {
      subject = await create();
      blobs = subject.blobs;
      scratch = await mkdtemp(join(tmpdir(), "blob-contract-"));
    });
    afterAll(async () => {
      await subject.close();
      await rm(scratch, { recursive: true, force: true });
    });

    test("returns what was put, from bytes and from a stream", async () => {
      const content = randomBytes(3_000_001);
      const chunks = [content.subarray(0, 1), content.subarray(1, 70_000), content.subarray(70_000)];
      for (const body of [content, Readable.from(chunks)]) {
        const key = newKey();
        const before = Date.now() - 2000;
        const info = await blobs.put(key, body, { contentType: "application/x-thing" });
        expect(info).toMatchObject({ size: content.length, contentType: "application/x-thing" });
        expect(info.modifiedAt.getTime()).toBeGreaterThan(before);
        const opened = await blobs.open(key);
        expect(opened?.info).toMatchObject({ size: info.size, contentType: info.contentType, etag: info.etag });
        expect(opened && (await bytesOf(opened.body)).equals(content)).toBe(true);
        expect((await blobs.stat(key))?.etag).toBe(info.etag);
      }
    });

    test("frees the chunks that it owns once they are stored, and no others", async () => {
      const content = randomBytes(9_000_000);
      const cut = () =>
        Array.from({ length: 90 }, (_, i) => {
          const chunk = Buffer.allocUnsafeSlow(100_000);
          content.copy(chunk, 0, i * 100_000);
          return chunk;
        });
      for (const ownsChunks of [true, false]) {
        const key = newKey();
        const chunks = cut();
        await blobs.put(key, Readable.from(chunks), { ...text, ownsChunks });
        const opened = await blobs.open(key);
        expect(opened && (await bytesOf(opened.body)).equals(content)).toBe(true);
        expect(chunks.map(({ length }) => length)).toEqual(chunks.map(() => (ownsChunks ? 0 : 100_000)));
      }
      // The rest of a larger buffer may be in use.
      const whole = Buffer.alloc(200_000, "w");
      await blobs.put(newKey(), Readable.from([whole.subarray(0, 150_000)]), { ...text, ownsChunks: true });
      expect(whole.toString("latin1")).toBe("w".repeat(200_000));
    });

    test("stores an empty object", async () => {
      for (const body of [new Uint8Array(), Readable.from([])]) {
        const key = newKey();
        expect(await blobs.put(key, body, text)).toMatchObject({ size: 0 });
        expect(await read(key)).toBe("");
      }
    });

    test("returns undefined for a missing object and deletes it without an error", async () => {
      const key = newKey();
      expect(await blobs.stat(key)).toBeUndefined();
      expect(await blobs.open(key)).toBeUndefined();
      await blobs.delete(key);
      await blobs.put(key, Buffer.from("here"), text);
      await blobs.delete(key);
      expect(await blobs.stat(key)).toBeUndefined();
      expect(await blobs.open(key)).toBeUndefined();
    });

    test("replaces an object with a new etag, type and body", async () => {
      const key = newKey();
      const first = await blobs.put(key, Buffer.from("first and longer"), text);
      const second = await blobs.put(key, Buffer.from("second"), { contentType: "text/csv" });
      expect(second.etag).not.toBe(first.etag);
      expect(await blobs.stat(key)).toMatchObject({ size: 6, contentType: "text/csv", etag: second.etag });
      expect(await read(key)).toBe("second");
    });

    test("readers see the old or the new object as a whole while it is replaced", async () => {
      const key = newKey();
      const version = (letter: string) => Buffer.alloc(300_000, letter);
      await blobs.put(key, version("a"), text);
      let writing = true;
      const writer = (async () => {
        for (const letter of "bcdefghijklm") await blobs.put(key, Readable.from([version(letter)]), text);
        writing = false;
      })();
      const seen = new Set<string>();
      while (writing) {
        const content = (await read(key)) ?? "";
        expect(content).toBe(content.charAt(0).repeat(300_000));
        seen.add(content.charAt(0));
      }
      await writer;
      expect(seen.size).toBeGreaterThan(1);
      expect((await read(key))?.charAt(0)).toBe("m");
    });

    test("serves ranges, cut at the end, and refuses those that begin past it", async () => {
      const key = newKey();
      await blobs.put(key, Buffer.from("0123456789"), text);
      expect(await read(key, { start: 0, end: 0 })).toBe("0");
      expect(await read(key, { start: 3, end: 6 })).toBe("3456");
      expect(await read(key, { start: 8, end: 500 })).toBe("89");
      const opened = await blobs.open(key, { start: 2, end: 3 });
      expect(opened?.info.size).toBe(10);
      opened?.body.destroy();
      await expect(blobs.open(key, { start: 10, end: 12 })).rejects.toThrow(RangeError);
    });

    test("accepts exactly maxBytes and refuses one more, keeping the old object", async () => {
      const key = newKey();
      const fits = Buffer.alloc(100_000, "x");
      const over = Buffer.alloc(100_001, "y");
      for (const wrap of [
        (b: Buffer) => b,
        (b: Buffer) => Readable.from([b.subarray(0, 60_000), b.subarray(60_000)]),
      ]) {
        expect(await refusal(blobs.put(key, wrap(over), { ...text, maxBytes: 100_000 }))).toBe("file_too_large");
        expect(await blobs.stat(key)).toBeUndefined();
        await blobs.put(key, wrap(fits), { ...text, maxBytes: 100_000 });
        expect(await refusal(blobs.put(key, wrap(over), { ...text, maxBytes: 100_000 }))).toBe("file_too_large");
        expect(await read(key)).toBe("x".repeat(100_000));
        await blobs.delete(key);
      }
    });

    test("stops an endless body at maxBytes without destroying it", async () => {
      let given = 0;
      const endless = new Readable({
        read() {
          given += 65_536;
          this.push(Buffer.alloc(65_536));
        },
      });
      const key = newKey();
      expect(await refusal(blobs.put(key, endless, { ...text, maxBytes: 1_000_000 }))).toBe("file_too_large");
      expect(given).toBeLessThan(20_000_000);
      expect(endless.destroyed).toBe(false);
      endless.destroy();
      expect(await blobs.stat(key)).toBeUndefined();
    });

    test("stores nothing of a body that breaks off", async () => {
      for (const reason of [new Error("broken body"), undefined]) {
        const body = new PassThrough();
        const key = newKey();
        const putting = blobs.put(key, body, text);
        putting.catch(() => {});
        body.write(Buffer.alloc(700_000));
        await sleep(20);
        body.destroy(reason);
        await expect(putting).rejects.toThrow();
        expect(await blobs.stat(key)).toBeUndefined();
      }
    });

    test("publishes the object only after `after` resolves", async () => {
      for (const size of [700_000, 9_000_000]) {
        const body = () => Readable.from([Buffer.alloc(size, "z")]);
        const [shown, hidden] = [newKey(), newKey()];
        const before = Promise.withResolvers<void>();
        const putting = blobs.put(shown, body(), { ...text, after: before.promise });
        await sleep(300);
        expect(await blobs.stat(shown)).toBeUndefined();
        before.resolve();
        expect(await putting).toMatchObject({ size });
        expect(await blobs.stat(shown)).toMatchObject({ size });
        const reason = new Error("could not be noted");
        const late = sleep(100).then(() => Promise.reject(reason));
        await expect(blobs.put(hidden, body(), { ...text, after: late })).rejects.toBe(reason);
        expect(await blobs.stat(hidden)).toBeUndefined();
      }
    });

    test("stops on abort, even if the body stalls, and leaves nothing", async () => {
      const key = newKey();
      const controller = new AbortController();
      const body = new PassThrough();
      const putting = blobs.put(key, body, { ...text, signal: controller.signal });
      body.write(Buffer.alloc(700_000));
      await sleep(20);
      const reason = new Error("the client left");
      controller.abort(reason);
      await expect(putting).rejects.toBe(reason);
      expect(await blobs.stat(key)).toBeUndefined();
      await expect(blobs.put(key, Buffer.from("x"), { ...text, signal: controller.signal })).rejects.toBe(reason);
      expect(await blobs.stat(key)).toBeUndefined();
    });

    test("accepts any key, keeps similar keys apart, and refuses keys that do not fit in a link", async () => {
      const folder = `contract/${randomBytes(8).toString("hex")}`;
      const names = [
        "a",
        "A",
        "é",
        "e\u0301",
        "日本 語.png",
        "🙂",
        "a%2Fb",
        "a/b",
        "a b+c&d=e?f#g",
        "CON",
        "x.",
        "tmp",
        "\\..\\a",
      ];
      names.push("n".repeat(1024 - folder.length - 1));
      for (const name of names) await blobs.put(`${folder}/${name}`, Buffer.from(name), text);
      for (const name of names) expect(await read(`${folder}/${name}`)).toBe(name);
      for (const key of ["", "..", "../x", "a/../../x", "a/./b", "k".repeat(1025), "lone\ud800"]) {
        expect(await refusal(blobs.put(key, Buffer.from("x"), text))).toBe("value_error");
        expect(await refusal(blobs.signGet(key, { base: subject.base, expiresInSeconds: 60, ...text }))).toBe(
          "value_error",
        );
      }
    });

    test("lists keys by prefix", async () => {
      const folder = `listed/${randomBytes(4).toString("hex")}`;
      const names = Array.from({ length: 25 }, (_, i) => `${folder}/é 日&<x>/${i}`);
      for (const name of names) await blobs.put(name, Buffer.from("x"), text);
      await blobs.put(`${folder}2`, Buffer.from("x"), text);
      const listed = async (prefix?: string) => (await Array.fromAsync(blobs.keys(prefix))).sort();
      expect(await listed(`${folder}/`)).toEqual([...names].sort());
      expect(await listed(`${folder}/é 日&<x>/2`)).toHaveLength(6);
      expect(await listed("nothing/begins/so")).toEqual([]);
      expect(await listed()).toEqual(expect.arrayContaining([...names, `${folder}2`]));
      for (const name of names) await blobs.delete(name);
      expect(await listed(folder)).toEqual([`${folder}2`]);
    });

    test("moves a local file into the store", async () => {
      const path = join(scratch, "made-elsewhere");
      await writeFile(path, "made elsewhere");
      const key = newKey();
      expect(await blobs.putFile(key, path, text)).toMatchObject({ size: 14, contentType: "text/plain" });
      expect(await read(key)).toBe("made elsewhere");
      await expect(access(path)).rejects.toThrow("ENOENT");
      await expect(blobs.putFile(key, path, text)).rejects.toThrow("ENOENT");
      expect(await read(key)).toBe("made elsewhere");
    });

    test("uses no more memory for a large object than for a small one", async () => {
      const chunk = randomBytes(65_536);
      const chunks = 2560; // 160 MB
      const body = Readable.from(
        (function* () {
          for (let i = 0; i < chunks; i++) yield Buffer.from(chunk);
        })(),
      );
      const key = newKey();
      const looks: number[] = [];
      collectGarbage();
      const start = process.memoryUsage().arrayBuffers;
      let watch: NodeJS.Timeout;
      const look = () => {
        collectGarbage();
        looks.push(process.memoryUsage().arrayBuffers - start);
        // From its end: on a slow machine a look takes longer than the pause, and would leave no time for anything else.
        watch = setTimeout(look, 100);
      };
      watch = setTimeout(look, 100);
      await blobs.put(key, body, text);
      const opened = await blobs.open(key);
      let size = 0;
      for await (const part of opened?.body ?? []) size += part.length;
      clearTimeout(watch);
      expect(size).toBe(chunk.length * chunks);
      expect(looks.length).toBeGreaterThan(0);
      expect(Math.max(...looks)).toBeLessThan(96 * 1024 * 1024);
      await blobs.delete(key);
    }, 180_000);

    describe("links", () => {
      const get = { method: "GET" };
      const upload = (body: string) => ({ method: "PUT", body, headers: { "content-type": "text/plain" } });
      const signing = (expiresInSeconds = 60) => ({ base: subject.base, expiresInSeconds, ...text });
      const status = async (url: string, init: RequestInit) => {
        const response = await subject.request(url, init);
        await response.arrayBuffer();
        return response.status;
      };

      test("download what is stored, whole and in part", async () => {
        const key = `contract/${randomBytes(8).toString("hex")}/my photo (1) é日🙂+&.txt`;
        const { etag } = await blobs.put(key, Buffer.from("0123456789"), text);
        const link = await blobs.signGet(key, signing(86_400));
        expect(link.method).toBe("GET");
        expect(link.url.length).toBeLessThanOrEqual(2083);
        expect(link.url).toMatch(/[?&]X-Amz-Expires=86400(&|$)/);
        expect(link.url).toMatch(/[?&]X-Amz-SignedHeaders=host(&|$)/);
        const whole = await subject.request(link.url, get);
        expect(whole.status).toBe(200);
        expect(await whole.text()).toBe("0123456789");
        expect(whole.headers.get("content-type")).toMatch(/^text\/plain/);
        expect(whole.headers.get("etag")).toContain(etag.replaceAll('"', ""));
        const part = await subject.request(link.url, { headers: { range: "bytes=2-4" } });
        expect(part.status).toBe(206);
        expect(part.headers.get("content-range")).toBe("bytes 2-4/10");
        expect(await part.text()).toBe("234");
        expect(await status(link.url, { headers: { range: "bytes=10-" } })).toBe(416);
      });

      test("upload under their key", async () => {
        const key = newKey();
        const link = await blobs.signPut(key, signing());
        expect(link.method).toBe("PUT");
        const response = await subject.request(link.url, upload("sent by a link"));
        expect(response.status).toBe(200);
        const stored = await blobs.stat(key);
        expect(response.headers.get("etag")?.replaceAll('"', "")).toBe(stored?.etag.replaceAll('"', ""));
        expect(stored).toMatchObject({ size: 14, contentType: "text/plain" });
        expect(await read(key)).toBe("sent by a link");
      });

      test("answer 404 for a missing object", async () => {
        const link = await blobs.signGet(newKey(), signing());
        expect(await status(link.url, get)).toBe(404);
      });

      test("are refused when changed, used with another method, or unsigned", async () => {
        const key = newKey();
        await blobs.put(key, Buffer.from("secret"), text);
        const { url } = await blobs.signGet(key, signing());
        const put = await blobs.signPut(key, signing());
        const last = url.endsWith("0") ? "1" : "0";
        expect(await status(url.slice(0, -1) + last, get)).toBe(403);
        expect(await status(url.replace("file.txt", "file.txu"), get)).toBe(403);
        expect(await status(url.replace("X-Amz-Expires=60", "X-Amz-Expires=61"), get)).toBe(403);
        // Without a signature a server may not recognise an S3 request.
        expect([400, 403]).toContain(await status(url.slice(0, url.indexOf("?")), get));
        expect(await status(url, upload("forged"))).toBe(403);
        expect(await status(put.url, get)).toBe(403);
        expect(await read(key)).toBe("secret");
      });

      test("expire", async () => {
        const key = newKey();
        await blobs.put(key, Buffer.from("x"), text);
        const { url } = await blobs.signGet(key, signing(1));
        const put = await blobs.signPut(key, signing(1));
        await sleep(2100);
        expect(await status(url, get)).toBe(403);
        expect(await status(put.url, upload("late"))).toBe(403);
        expect(await read(key)).toBe("x");
      });

      test("are refused when they would be too long", async () => {
        const key = `contract/${"日".repeat(300)}`;
        expect(await refusal(blobs.signGet(key, signing()))).toBe("string_too_long");
        expect(await refusal(blobs.signPut(key, signing()))).toBe("string_too_long");
      });
    });
  });
}
