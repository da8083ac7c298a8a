import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openFilesystemBlobs } from "../../engines/blobs/filesystem.ts";
import { loadOrCreateSigningCredentials } from "../../engines/blobs/signing-credentials.ts";
import type { BlobInfo, LinkServedStore } from "../../features/files/index.ts";
import { createLog } from "../../kernel/log.ts";
import { createServer } from "../foundation/server.ts";
import { blobApi } from "./index.ts";

const maxBytes = 2_000_000;
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

let home: string;
let store: LinkServedStore;
let app: FastifyInstance;
let base: string;
let recorded: [string, BlobInfo][];

async function start(publicUrl?: string): Promise<FastifyInstance> {
  const server = createServer({ log: createLog("silent"), publicUrl });
  await blobApi(server, {
    store,
    linkAddress: publicUrl,
    findUploadTarget: async (key) =>
      key.includes("unknown")
        ? undefined
        : { maxBytes, contentType: key.includes("declared") ? "text/css" : undefined },
    recordUpload: async (key, info) => void recorded.push([key, info]),
  });
  return server;
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "blob-api-"));
  store = await openFilesystemBlobs({
    home,
    bucket: "gantry",
    credentials: await loadOrCreateSigningCredentials(home),
  });
  app = await start();
  base = await app.listen({ port: 0, host: "127.0.0.1" });
});
beforeEach(() => {
  recorded = [];
});
afterAll(async () => {
  await app.close();
  await store.close();
  await rm(home, { recursive: true, force: true });
});

const expiresInSeconds = 60;
const putLink = async (key: string) => (await store.signPut(key, { base, expiresInSeconds })).url;
const getLink = async (key: string) =>
  (await store.signGet(key, { base, expiresInSeconds, contentType: "text/plain" })).url;
async function stored(body: string | Buffer, contentType = "text/plain", name = "file.txt"): Promise<string> {
  const key = `t/${randomBytes(6).toString("hex")}/${name}`;
  await store.put(key, Buffer.from(body), { contentType });
  return await getLink(key);
}

describe("403", () => {
  test("a link without a signature, with a wrong one, for another method or bucket, in our text form", async () => {
    const url = await stored("x");
    const answers = [
      await fetch(url.slice(0, url.indexOf("?"))),
      await fetch(`${url}0`),
      await fetch(url, { method: "PUT", body: "forged" }),
      await fetch(`${base}/s3/other/${url.split("/gantry/")[1]}`),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(403);
      expect(answer.headers.get("x-service-retryable")).toBe("false");
      expect(await answer.json()).toEqual({ detail: expect.any(String), status_code: 403 });
    }
    expect(recorded).toEqual([]);
  });

  test("another host than the signed one", async () => {
    const url = new URL(await stored("x"));
    const request = httpRequest(url, { headers: { host: "evil.example" } }).end();
    const [response] = await once(request, "response");
    response.resume();
    expect(response.statusCode).toBe(403);
  });

  test("a refused upload is answered although its body goes on", async () => {
    const url = await putLink("t/unsigned/file");
    const body = new ReadableStream({
      async pull(controller) {
        await sleep(5);
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    const answer = await fetch(`${url}0`, { method: "PUT", body, duplex: "half" });
    expect(answer.status).toBe(403);
  });
});

describe("412", () => {
  const ask = async (url: string, headers: Record<string, string>, method = "GET") => {
    const answer = await fetch(url, { method, headers });
    await answer.arrayBuffer();
    return answer;
  };

  test("another version than the wanted one, or one that came after the moment, in our text form", async () => {
    const url = await stored("0123456789");
    const whole = await ask(url, {});
    const etag = whole.headers.get("etag") ?? "";
    const modified = whole.headers.get("last-modified") ?? "";
    const earlier = new Date(Date.parse(modified) - 1000).toUTCString();
    const later = new Date(Date.parse(modified) + 1000).toUTCString();
    const refused: Record<string, string>[] = [
      { "if-match": '"other"' },
      // A part of a file is only put together with parts of the very same bytes.
      { "if-match": `W/${etag}` },
      { "if-match": '"other", "more"', range: "bytes=0-1" },
      { "if-match": '"other"', "if-none-match": etag },
      { "if-match": '"other"', "if-unmodified-since": later },
      { "if-unmodified-since": earlier },
      { "if-unmodified-since": "Sunday, 06-Nov-94 08:49:37 GMT" },
      { "if-unmodified-since": "Sun Nov  6 08:49:37 1994" },
    ];
    for (const headers of refused) {
      const answer = await fetch(url, { headers });
      expect(answer.status, JSON.stringify(headers)).toBe(412);
      expect(await answer.json()).toEqual({ detail: expect.any(String), status_code: 412 });
      expect(answer.headers.get("x-service-retryable")).toBe("false");
      expect((await ask(url, headers, "HEAD")).status).toBe(412);
    }
    const answered: [Record<string, string>, number][] = [
      [{ "if-match": etag }, 200],
      [{ "if-match": `"other", ${etag}` }, 200],
      [{ "if-match": "*" }, 200],
      [{ "if-match": etag, range: "bytes=0-1" }, 206],
      [{ "if-match": etag, "if-none-match": etag }, 304],
      // The version says more than its time does.
      [{ "if-match": etag, "if-unmodified-since": earlier }, 200],
      [{ "if-unmodified-since": modified }, 200],
      [{ "if-unmodified-since": later, range: "bytes=20-" }, 416],
      [{ "if-unmodified-since": "yesterday" }, 200],
    ];
    for (const [headers, status] of answered) {
      expect((await ask(url, headers)).status, JSON.stringify(headers)).toBe(status);
    }
    expect((await ask(await getLink("t/nothing"), { "if-match": "*" })).status).toBe(404);
  });

  test("304 for what has not changed since the moment that the client knows it of", async () => {
    const url = await stored("0123456789");
    const { headers } = await ask(url, {});
    const modified = headers.get("last-modified") ?? "";
    const earlier = new Date(Date.parse(modified) - 1000).toUTCString();
    expect((await ask(url, { "if-modified-since": modified })).status).toBe(304);
    expect((await ask(url, { "if-modified-since": earlier })).status).toBe(200);
    expect((await ask(url, { "if-modified-since": modified, "if-none-match": '"other"' })).status).toBe(200);
    expect((await ask(url, { "if-modified-since": "yesterday" })).status).toBe(200);
  });
});

describe("404 and 405", () => {
  test("no such object, no such upload link, other methods", async () => {
    expect((await fetch(await getLink("t/nothing"))).status).toBe(404);
    const put = await fetch(await putLink("t/unknown"), { method: "PUT", body: "x" });
    expect(put.status).toBe(404);
    expect(await put.json()).toEqual({ detail: "File not found", status_code: 404 });
    expect(await store.stat("t/unknown")).toBeUndefined();
    expect((await fetch(await getLink("t/nothing"), { method: "DELETE" })).status).toBe(405);
  });
});

describe("pages of other origins", () => {
  const origin = "https://app.example";
  const cors = (answer: Response) =>
    Object.fromEntries([...answer.headers].filter(([name]) => name.startsWith("access-control-")));
  const opened = { "access-control-allow-origin": "*", "access-control-expose-headers": "ETag, Content-Range" };

  test("may ask beforehand what a link allows, whatever its signature", async () => {
    const url = await putLink("t/preflight");
    for (const [asked, headers] of [
      ["content-type,x-other", "content-type,x-other"],
      [undefined, "content-type, range"],
    ]) {
      const answer = await fetch(url, {
        method: "OPTIONS",
        headers: {
          origin,
          "access-control-request-method": "PUT",
          ...(asked && { "access-control-request-headers": asked }),
        },
      });
      expect(answer.status).toBe(204);
      expect(cors(answer)).toEqual({
        ...opened,
        "access-control-allow-methods": "GET, HEAD, PUT",
        "access-control-allow-headers": headers,
        "access-control-max-age": expect.stringMatching(/^\d+$/),
      });
    }
    expect((await fetch(`${base}/elsewhere`, { method: "OPTIONS", headers: { origin } })).status).toBe(404);
  });

  test("read every answer, refusals too, and nothing outside of the store", async () => {
    const url = await stored("0123456789");
    const etag = (await fetch(url)).headers.get("etag") ?? "";
    const answers: [number, Response][] = [
      [200, await fetch(url, { headers: { origin } })],
      [200, await fetch(url, { method: "HEAD", headers: { origin } })],
      [200, await fetch(await putLink("t/from-a-page"), { method: "PUT", body: "x", headers: { origin } })],
      [206, await fetch(url, { headers: { origin, range: "bytes=0-1" } })],
      [304, await fetch(url, { headers: { origin, "if-none-match": etag } })],
      [403, await fetch(`${url}0`, { headers: { origin } })],
      [404, await fetch(await getLink("t/nothing"), { headers: { origin } })],
      [404, await fetch(await putLink("t/unknown"), { method: "PUT", body: "x", headers: { origin } })],
      [405, await fetch(url, { method: "DELETE", headers: { origin } })],
      [416, await fetch(url, { headers: { origin, range: "bytes=20-" } })],
    ];
    for (const [status, answer] of answers) {
      expect([answer.status, cors(answer)]).toEqual([status, opened]);
      await answer.arrayBuffer();
    }
    expect(cors(await fetch(`${base}/elsewhere`, { headers: { origin } }))).toEqual({});
  });
});

describe("a proxy in front", () => {
  test("may change the host and take its prefix off", async () => {
    const publicUrl = "https://files.example/gantry";
    const behind = await start(publicUrl);
    const address = await behind.listen({ port: 0, host: "127.0.0.1" });
    try {
      await store.put("t/proxied", Buffer.from("through a proxy"), { contentType: "text/plain" });
      const { url } = await store.signGet("t/proxied", {
        base: publicUrl,
        expiresInSeconds,
        contentType: "text/plain",
      });
      expect(url.startsWith(`${publicUrl}/s3/gantry/t/proxied?`)).toBe(true);
      const answer = await fetch(url.replace(publicUrl, address));
      expect(answer.status).toBe(200);
      expect(await answer.text()).toBe("through a proxy");
      expect((await fetch(url.replace(publicUrl, base))).status).toBe(403);
    } finally {
      await behind.close();
    }
  });
});

describe("GET", () => {
  test("describes the file and keeps it from being run as a page", async () => {
    const answer = await fetch(await stored(png, "image/png", "bild.png"));
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "image/png",
      "content-length": String(png.length),
      "content-disposition": 'inline; filename="bild.png"',
      "content-security-policy": "sandbox; default-src 'none'; media-src 'self'; style-src 'unsafe-inline'",
      "cross-origin-resource-policy": "cross-origin",
      "cache-control": expect.stringContaining("private"),
      "accept-ranges": "bytes",
    });
    expect(Buffer.from(await answer.arrayBuffer()).equals(png)).toBe(true);
    for (const type of [
      "text/html; charset=utf-8",
      "image/svg+xml",
      "application/xml",
      "text/xml",
      "application/xhtml+xml",
      "text/javascript",
      "TEXT/HTML",
      "image/png;,text/html",
      "image/x+xml",
    ]) {
      const active = await fetch(await stored("<script>alert(1)</script>", type, 'ü"n.html'));
      expect(active.headers.get("content-disposition")).toBe(
        "attachment; filename=\"__n.html\"; filename*=UTF-8''%C3%BC%22n.html",
      );
      expect(active.headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none'/);
      await active.arrayBuffer();
    }
  });

  test("answers single ranges, and 416 past the end", async () => {
    const url = await stored("0123456789");
    const ranged = async (range: string, more = {}) => {
      const answer = await fetch(url, { headers: { range, ...more } });
      return [answer.status, answer.headers.get("content-range"), await answer.text()];
    };
    expect(await ranged("bytes=0-3")).toEqual([206, "bytes 0-3/10", "0123"]);
    expect(await ranged("bytes=7-")).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await ranged("bytes=7-99")).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await ranged("bytes=-3")).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await ranged("bytes=-99")).toEqual([206, "bytes 0-9/10", "0123456789"]);
    expect(await ranged("bytes=5-2")).toEqual([200, null, "0123456789"]);
    expect(await ranged("bytes=0-1,4-5")).toEqual([200, null, "0123456789"]);
    expect(await ranged("lines=0-1")).toEqual([200, null, "0123456789"]);
    for (const past of ["bytes=10-", "bytes=10-20", "bytes=-0", `bytes=${"9".repeat(400)}-`]) {
      const [status, range, body] = await ranged(past);
      expect([status, range]).toEqual([416, "bytes */10"]);
      expect(JSON.parse(String(body))).toEqual({ detail: expect.any(String), status_code: 416 });
    }
    expect(await ranged("bytes=0-3", { "if-range": '"another version"' })).toEqual([200, null, "0123456789"]);
    const etag = (await fetch(url, { method: "HEAD" })).headers.get("etag") ?? "";
    expect(await ranged("bytes=0-3", { "if-range": etag })).toEqual([206, "bytes 0-3/10", "0123"]);
  });

  test("an empty file is whole, and has no range", async () => {
    const url = await stored("");
    const whole = await fetch(url);
    expect([whole.status, whole.headers.get("content-length"), await whole.text()]).toEqual([200, "0", ""]);
    expect((await fetch(url, { headers: { range: "bytes=0-" } })).headers.get("content-range")).toBe("bytes */0");
  });

  test("answers 304 to the etag it gave", async () => {
    const url = await stored("0123456789");
    const etag = (await fetch(url)).headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const match of [etag, `"x", W/${etag}`, "*"]) {
      const answer = await fetch(url, { headers: { "if-none-match": match } });
      expect([answer.status, answer.headers.get("etag"), await answer.text()]).toEqual([304, etag, ""]);
    }
    expect((await fetch(url, { headers: { "if-none-match": '"x"' } })).status).toBe(200);
  });

  test("HEAD says the same and sends nothing, on a link for GET", async () => {
    const url = await stored("0123456789");
    const head = await fetch(url, { method: "HEAD" });
    const whole = await fetch(url);
    await whole.arrayBuffer();
    expect([head.status, await head.text()]).toEqual([200, ""]);
    for (const name of ["content-length", "content-type", "etag", "content-disposition", "accept-ranges"]) {
      expect(head.headers.get(name)).toBe(whole.headers.get(name));
    }
    expect((await fetch(await putLink("t/x"), { method: "HEAD" })).status).toBe(403);
    expect((await fetch(await getLink("t/nothing"), { method: "HEAD" })).status).toBe(404);
  });

  test("a reader that leaves in the middle leaves no open file behind", async () => {
    const url = await stored(Buffer.alloc(30_000_000));
    const open = async () => (await readdir("/proc/self/fd")).length;
    const before = await open();
    for (let i = 0; i < 20; i++) {
      const controller = new AbortController();
      const answer = await fetch(url, { signal: controller.signal });
      await answer.body?.getReader().read();
      controller.abort();
    }
    for (let i = 0; i < 40 && (await open()) > before + 5; i++) await sleep(50);
    expect(await open()).toBeLessThanOrEqual(before + 5);
  });
});

describe("PUT", () => {
  const put = async (key: string, body: RequestInit["body"], contentType?: string) =>
    await fetch(await putLink(key), {
      method: "PUT",
      body,
      headers: contentType ? { "content-type": contentType } : {},
    });

  test("stores any body raw and tells what came before it answers", async () => {
    const content = randomBytes(1_900_000);
    const answer = await put("t/raw.bin", content, "application/json");
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
    const [key, info] = recorded[0] ?? [];
    expect(key).toBe("t/raw.bin");
    expect(info).toMatchObject({ size: content.length });
    expect(answer.headers.get("etag")).toBe(`"${info?.etag}"`);
    const back = await fetch(await getLink("t/raw.bin"));
    expect(Buffer.from(await back.arrayBuffer()).equals(content)).toBe(true);
  });

  test("takes the type from the bytes, then the header, then the link, then the name", async () => {
    const type = async (key: string, body: RequestInit["body"], contentType?: string) => {
      expect((await put(key, body, contentType)).status).toBe(200);
      return (await store.stat(key))?.contentType;
    };
    expect(await type("t/a.txt", png, "text/plain")).toBe("image/png");
    expect(await type("t/a.txt", Buffer.from("words"), "text/markdown")).toBe("text/markdown");
    expect(await type("t/declared/a.txt", Buffer.from("words"))).toBe("text/css");
    expect(await type("t/a.csv", Buffer.from("words"))).toBe("text/csv");
    expect(await type("t/a.csv", Buffer.from("words"), "application/octet-stream")).toBe("text/csv");
    expect(await type("t/a", Buffer.from("words"))).toBe("application/octet-stream");
    expect(await type("t/a", Buffer.from("words"), "text/plain; x=y; charset=utf-8")).toBe("text/plain; charset=utf-8");
    const refused = await put("t/a", Buffer.from("words"), "nonsense");
    expect([refused.status, await refused.json()]).toMatchObject([
      422,
      { detail: [{ loc: ["header", "content-type"] }] },
    ]);
    expect(await type("t/a", Buffer.alloc(0))).toBe("application/octet-stream");
  });

  test("keeps every length whole around the sample that is looked at", async () => {
    for (const size of [0, 1, 4099, 4100, 4101, 5000, 65_535, 65_536, 65_537, 200_000]) {
      const content = randomBytes(size);
      const answer = await put(`t/size-${size}`, content);
      expect(answer.status).toBe(200);
      const opened = await store.open(`t/size-${size}`);
      expect(Buffer.concat((await opened?.body.toArray()) ?? []).equals(content)).toBe(true);
    }
  });

  test("422 file_too_large by the declared length and by what arrives, leaving nothing", async () => {
    const declared = await put("t/large-1", Buffer.alloc(maxBytes + 1));
    const endless = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    const url = await putLink("t/large-2");
    const arriving = await fetch(url, { method: "PUT", body: endless, duplex: "half" });
    for (const answer of [declared, arriving]) {
      expect(answer.status).toBe(422);
      const { detail } = (await answer.json()) as { detail: { type: string; ctx: unknown }[] };
      expect(detail[0]).toMatchObject({ type: "file_too_large", ctx: { max_size: maxBytes } });
    }
    expect(await store.stat("t/large-1")).toBeUndefined();
    expect(await store.stat("t/large-2")).toBeUndefined();
    expect((await put("t/large-1", Buffer.alloc(maxBytes))).status).toBe(200);
    expect(recorded).toHaveLength(1);
  });

  test("one that ends early leaves nothing", async () => {
    for (const sent of [100, 500_000]) {
      const url = new URL(await putLink("t/early"));
      const socket = connect(Number(url.port), url.hostname);
      socket.write(`PUT ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Length: 1000000\r\n\r\n`);
      socket.write(Buffer.alloc(sent));
      await sleep(100);
      socket.destroy();
      await sleep(100);
    }
    expect(await store.stat("t/early")).toBeUndefined();
    expect(await readdir(join(home, "blobs", "gantry", "tmp"))).toEqual([]);
    expect(recorded).toEqual([]);
  });
});
