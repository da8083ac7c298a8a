import { type ChildProcess, fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { ObjectSchema } from "@gantry/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../../../kernel/errors.ts";
import { createNet } from "../../net/create-net.ts";
import type { Net } from "../../net/net.ts";
import type { FileInput, FileOutput, InputValue, ModelCall, ModelDriver, ModelResult } from "../driver.ts";
import type { Mask } from "../mask.ts";
import type { MediaServer } from "../test-upstreams/image-servers.ts";
import { keyed } from "../test-upstreams/keyed.ts";
import { jsonReply } from "../test-upstreams/scripted-server.ts";

/** A protocol under test, with its server and driver. */
export interface MediaProtocol {
  start(key: string): Promise<MediaServer>;
  create(options: {
    net: Net;
    url: string;
    key: string;
    mask: Mask;
    spoolFolder: string;
    maxFileBytes?: number;
  }): ModelDriver;
  /** Forms in which a file can be returned. */
  forms: readonly ("base64" | "link")[];
  /** A correct answer around a text that should be base64. */
  around?(text: string): unknown;
}

export const secret = 'sk-very"secret/0123456789';
export const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

export const inputFields: ObjectSchema = {
  type: "object",
  required: ["prompt"],
  properties: {
    prompt: { type: "string" },
    ...Object.fromEntries(
      ["image", "image1", "image2", "image3", "mask"].map((name) => [
        name,
        { type: ["string", "null"], format: "binary", "x-media": "image" },
      ]),
    ),
    size: { type: ["string", "null"] },
    watermark: { type: ["boolean", "null"] },
    optimize_prompt_mode: { type: ["string", "null"] },
    enable_safety_checker: { type: ["boolean", "null"] },
    seed: { type: ["integer", "null"] },
    options: { type: ["object", "null"] },
  },
};

export const imageField: ObjectSchema = {
  type: "object",
  required: ["image"],
  properties: { image: { type: "string", format: "binary", "x-media": "image" } },
};

export const textField: ObjectSchema = {
  type: "object",
  required: ["output"],
  properties: { output: { type: "string", isStream: true } },
};

export function fileInput(bytes: Buffer, contentType = "image/png"): FileInput {
  return {
    kind: "file",
    contentType,
    size: bytes.length,
    filename: 'the "user\'s" name.png',
    open: async () => Readable.from([bytes.subarray(0, 5), bytes.subarray(5)], { objectMode: false }),
  };
}

export function callWith(input: Record<string, InputValue>, more: Partial<ModelCall> = {}): ModelCall {
  return { predictionId: "pred_1", input, signal: new AbortController().signal, onFragment() {}, ...more };
}

export async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const error = await work.then(
    () => new Error("it did not fail"),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Fault)) throw error;
  return error;
}

export async function bytesOf(file: unknown): Promise<Buffer> {
  const { body } = file as FileOutput;
  if (body instanceof Uint8Array) return Buffer.from(body);
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

const fewMegabytes = 4 * 1024 * 1024;

/** Reads a file without keeping it. */
async function lengthOf(file: unknown, everyFewMegabytes: () => void): Promise<number> {
  const { body } = file as FileOutput;
  if (body instanceof Uint8Array) return body.length;
  let length = 0;
  for await (const piece of body) {
    const before = length;
    length += (piece as Buffer).length;
    if (Math.floor(length / fewMegabytes) > Math.floor(before / fewMegabytes)) everyFewMegabytes();
  }
  return length;
}

/** Everything that a log could show of an error and its causes. */
function loggable(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error);
  const own = JSON.stringify(
    error,
    Object.getOwnPropertyNames(error).filter((name) => name !== "cause" && name !== "stack"),
  );
  return `${error.message} ${own} ${error.cause === undefined ? "" : loggable(error.cause)}`;
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Memory in use after garbage collection. The second collection frees the buffers released by the first. */
function liveBytes(): number {
  collectGarbage();
  collectGarbage();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + Math.max(external, arrayBuffers);
}

export function mediaBackendContract(protocol: MediaProtocol): void {
  describe("every media backend", () => {
    let net: Net;
    let upstream: MediaServer;
    let driver: ModelDriver;
    let spoolFolder: string;
    let child: ChildProcess | undefined;

    beforeEach(async () => {
      net = createNet({ allowPrivateNetwork: true });
      spoolFolder = await mkdtemp(join(tmpdir(), "gantry-spool-"));
      upstream = await protocol.start(secret);
      driver = protocol.create({ net, url: upstream.url, ...keyed(secret), spoolFolder });
      Object.assign(upstream.made, { bytes: png, type: "image/png", as: protocol.forms[0] });
    });

    afterEach(async () => {
      child?.kill();
      child = undefined;
      await net.close();
      await upstream.close();
      expect(await readdir(spoolFolder)).toEqual([]);
      await rm(spoolFolder, { recursive: true });
    });

    const run = (more: Partial<ModelCall> = {}) => driver.run(callWith({ prompt: "a boat" }, more));
    const calls = () => upstream.seen.filter(({ kind }) => kind === "call");

    async function expectPng(result: Promise<ModelResult>): Promise<void> {
      const { image } = (await result).output;
      expect(image).toMatchObject({ kind: "file", contentType: "image/png" });
      expect((await bytesOf(image)).equals(png)).toBe(true);
    }

    it.each(protocol.forms)("returns a file sent as %s", async (as) => {
      upstream.made.as = as;
      await expectPng(run());
    });

    it.each(protocol.forms)("returns a 3 MB file sent as %s unchanged", async (as) => {
      const large = Buffer.concat([png, createHash("shake256", { outputLength: 3_000_001 }).update("x").digest()]);
      Object.assign(upstream.made, { bytes: large, as });
      const { output } = await run();
      expect((await bytesOf(output.image)).equals(large)).toBe(true);
    });

    it("retries after the time that a 429 asks for", async () => {
      const reply = { ...jsonReply({ error: { message: "slow down" } }, 429) };
      upstream.odd.call.push({ kind: "reply", reply: { ...reply, headers: { ...reply.headers, "retry-after": "1" } } });
      await expectPng(run());
      const [first, second] = calls();
      expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(950);
    });

    it("does not wait for long and tells the caller when to retry", async () => {
      const headers = { "content-type": "application/json", "retry-after": "60" };
      upstream.odd.call.push({ kind: "reply", reply: { status: 429, headers, body: "{}" } });
      const refusal = await faultOf(run());
      expect(refusal).toMatchObject({ type: "downstream_service_unavailable", retryAfterSeconds: 60, retryable: true });
      expect(calls()).toHaveLength(1);
    });

    it("retries after a 503 and after a connection reset", async () => {
      upstream.odd.call.push({ kind: "reply", reply: jsonReply({ error: "starting" }, 503) }, { kind: "reset" });
      await expectPng(run());
      expect(calls()).toHaveLength(3);
    });

    it("does not repeat a run after a 500, which may follow the finished work", async () => {
      upstream.odd.call.push({ kind: "reply", reply: jsonReply({ detail: "The output does not fit" }, 500) });
      expect(await faultOf(run())).toMatchObject({ type: "downstream_service_error", retryable: false });
      expect(calls()).toHaveLength(1);
    });

    it("is unavailable if the connection is refused", async () => {
      await upstream.close();
      expect((await faultOf(run())).type).toBe("downstream_service_unavailable");
    });

    it("fails on a cut answer and does not pay for a second one", async () => {
      upstream.odd.call.push({ kind: "cut" });
      expect(await faultOf(run())).toMatchObject({ type: "downstream_service_error", status: 502 });
      expect(calls()).toHaveLength(1);
    });

    it("closes the connection when it is aborted", async () => {
      upstream.odd.call.push({ kind: "hang" });
      const stop = new AbortController();
      const running = run({ signal: stop.signal });
      running.catch(() => {});
      await expect.poll(() => calls().length).toBe(1);
      stop.abort(new Error("the client left"));
      await expect(running).rejects.toThrow();
      await expect.poll(() => upstream.seen[0]?.leftAt, { interval: 5 }).toBeDefined();
    });

    it("sends nothing if it was aborted before", async () => {
      await expect(run({ signal: AbortSignal.abort(new Error("gone")) })).rejects.toThrow();
      expect(upstream.seen).toHaveLength(0);
    });

    it.each([400, 401, 403, 404, 422, 500])("does not reveal the body of a %i", async (status) => {
      const said = {
        error: { code: "x", message: `key ${secret} at db.internal:5432` },
        detail: `db.internal ${secret}`,
      };
      for (let n = 0; n < 3; n++) upstream.odd.call.push({ kind: "reply", reply: jsonReply(said, status) });
      const refusal = await faultOf(run());
      expect(refusal.type).toBe("downstream_service_error");
      expect(JSON.stringify(refusal.issues)).not.toContain("db.internal");
      expect(loggable(refusal)).toContain("db.internal");
      expect(loggable(refusal)).not.toContain("0123456789");
    });

    it("reports a wrong key as an upstream failure, not as the caller's", async () => {
      driver = protocol.create({ net, url: upstream.url, ...keyed(secret), spoolFolder });
      upstream.odd.call.push({ kind: "reply", reply: jsonReply({ error: { code: "invalid_api_key" } }, 401) });
      expect((await faultOf(run())).status).toBe(502);
    });

    it("aborts an answer that never ends", async () => {
      driver = protocol.create({ net, url: upstream.url, ...keyed(secret), spoolFolder, maxFileBytes: 100_000 });
      upstream.odd.call.push({ kind: "endless", piece: " ".repeat(65_536) });
      expect((await faultOf(run())).type).toBe("downstream_service_error");
      await expect.poll(() => upstream.seen[0]?.leftAt).toBeDefined();
    });

    it("fails on an HTML page instead of an answer", async () => {
      const reply = { status: 200, headers: { "content-type": "text/html" }, body: "<html>Sign in</html>" };
      upstream.odd.call.push({ kind: "reply", reply });
      expect((await faultOf(run())).type).toBe("downstream_service_error");
    });

    it("reads a correct answer with a wrong content type", async () => {
      upstream.odd.call.push({ kind: "type", contentType: "text/plain" });
      await expectPng(run());
    });

    it("refuses a file that is not an image for an image field", async () => {
      Object.assign(upstream.made, { bytes: Buffer.from("<html>expired</html>"), type: "text/html" });
      expect((await faultOf(run())).type).toBe("downstream_service_error");
    });

    it("does not blame the upstream if an input file cannot be read", async () => {
      const lost: FileInput = { ...fileInput(png), open: () => Promise.reject(new Error("the disk is gone")) };
      const failing = driver.run(callWith({ prompt: "a boat", image: lost }));
      await expect(failing).rejects.toThrow("the disk is gone");
      const short: FileInput = { ...fileInput(png), size: png.length + 1 };
      await expect(driver.run(callWith({ prompt: "a boat", image: short }))).rejects.toThrow("recorded length");
    });

    if (protocol.around) {
      const { around } = protocol;
      it.each([
        ["cut", "A".repeat(50_001)],
        ["cut, and short", png.toString("base64").slice(0, -3)],
        ["foreign", `${"A".repeat(40_000)}!!!!`],
        ["goes on after its padding", `${"A".repeat(40_000)}AA==AAAA`],
      ])("refuses base64 that is damaged: %s", async (_name, text) => {
        upstream.odd.call.push({ kind: "reply", reply: jsonReply(around(text)) });
        expect((await faultOf(run())).type).toBe("downstream_service_error");
      });

      it("reads base64 with escaped slashes and line breaks", async () => {
        const large = Buffer.concat([png, createHash("shake256", { outputLength: 200_000 }).update("y").digest()]);
        const lines = (large.toString("base64").match(/.{1,76}/g) ?? []).join("\n");
        const body = JSON.stringify(around(lines)).replaceAll("/", "\\/").replaceAll("+", "\\u002B");
        const headers = { "content-type": "application/json" };
        upstream.odd.call.push({ kind: "reply", reply: { status: 200, headers, body } });
        expect((await bytesOf((await run()).output.image)).equals(large)).toBe(true);
      });
    }

    if (protocol.forms.includes("link")) {
      it("detects the type from the bytes, whatever the link's server declares", async () => {
        Object.assign(upstream.made, { as: "link", type: "text/html" });
        await expectPng(run());
      });

      it("retries a failed download, then fails", async () => {
        upstream.made.as = "link";
        upstream.odd.file.push({ kind: "reset" });
        await expectPng(run());
        upstream.odd.file.push({ kind: "reply", reply: jsonReply({}, 404) });
        expect((await faultOf(run())).type).toBe("downstream_service_error");
        const elsewhere = { status: 302, headers: { location: `${upstream.url}/files/other` }, body: "" };
        upstream.odd.file.push({ kind: "reply", reply: elsewhere });
        expect((await faultOf(run())).type).toBe("downstream_service_error");
      });

      it("fails during reading if the download is cut or too long", async () => {
        const bytes = Buffer.concat([png, Buffer.alloc(400_000)]);
        Object.assign(upstream.made, { as: "link", bytes });
        upstream.odd.file.push({ kind: "cut" });
        const { output } = await run();
        expect((await faultOf(bytesOf(output.image))).type).toBe("downstream_service_error");
        driver = protocol.create({ net, url: upstream.url, ...keyed(secret), spoolFolder, maxFileBytes: 100_000 });
        upstream.odd.file.push({ kind: "endless", piece: png.toString("latin1") });
        const failing = run().then((result) => bytesOf(result.output.image));
        expect((await faultOf(failing)).type).toBe("downstream_service_error");
      });

      it("closes the download when it is aborted after the driver returned", async () => {
        Object.assign(upstream.made, { as: "link", bytes: Buffer.concat([png, Buffer.alloc(20_000_000)]) });
        const stop = new AbortController();
        await run({ signal: stop.signal });
        stop.abort(new Error("the client left"));
        const download = () => upstream.seen.find(({ kind }) => kind === "file");
        await expect.poll(() => download()?.leftAt, { interval: 5 }).toBeDefined();
      });
    }

    it("holds neither a result nor an input of 30 MB in memory", async () => {
      const size = 30 * 1024 * 1024;
      child = fork(join(import.meta.dirname, "../test-upstreams/large-answers.ts"), [String(size)], { execArgv: [] });
      const [port] = await once(child, "message");
      driver = protocol.create({ net, url: `http://127.0.0.1:${port}`, ...keyed(secret), spoolFolder });
      const piece = Buffer.alloc(64 * 1024, 1);
      let sample: () => void = () => {};
      const large: FileInput = {
        ...fileInput(png),
        size,
        open: async () =>
          Readable.from(
            (function* () {
              for (let sent = 0; sent < size; sent += piece.length) {
                if (sent % fewMegabytes === 0) sample();
                yield piece;
              }
            })(),
            { objectMode: false },
          ),
      };
      const measured = async () => {
        const { output } = await driver.run(callWith({ prompt: "a boat", image: large }));
        return lengthOf(output.image, () => sample());
      };
      // The first run loads libraries.
      await measured();
      await new Promise((resolve) => setTimeout(resolve, 100));
      const before = liveBytes();
      const held: number[] = [];
      sample = () => held.push(liveBytes() - before);
      // Sample while the answer is read. The pause starts after a sample: on a busy machine sampling takes longer than
      // the pause, and an interval would starve the run.
      let watch = setTimeout(function again() {
        sample();
        watch = setTimeout(again, 40);
      }, 40);
      expect(await measured()).toBe(size);
      clearTimeout(watch);
      expect(Math.max(...held)).toBeLessThan(8 * 1024 * 1024);
      expect(held.length).toBeGreaterThan(12);
    }, 120_000);
  });
}
