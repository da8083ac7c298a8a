import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { FastifyInstance, LightMyRequestResponse } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noTelemetry } from "../../engines/telemetry/telemetry.ts";
import { createLog } from "../../kernel/log.ts";
import { createServer } from "../foundation/server.ts";
import { consoleFiles } from "./console-files.ts";

const page = "<!doctype html><title>Gantry</title>";
const script = `console.log(${JSON.stringify("gantry ".repeat(500))});`;
const checked = "no-cache";
const forEver = "public, max-age=31536000, immutable";

let room: string;
let app: FastifyInstance;
/** As they are measured. */
const routes: (string | undefined)[] = [];

async function open(folder: string, linkAddress?: string): Promise<FastifyInstance> {
  const telemetry = {
    ...noTelemetry,
    requestEnded: (_: unknown, end: { route?: string | undefined }) => void routes.push(end.route),
  };
  const server = createServer({ log: createLog("silent"), publicUrl: undefined, telemetry });
  await server.register(consoleFiles, { log: createLog("silent"), folder, linkAddress });
  return server;
}

beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-console-"));
  await mkdir(join(room, "assets"));
  await writeFile(join(room, "index.html"), page);
  await writeFile(join(room, "mark.svg"), "<svg/>");
  await writeFile(join(room, ".stamp"), "secret");
  await writeFile(join(room, "assets", "index-1a2b.js"), script);
  await writeFile(join(room, "assets", "font-1a2b.woff2"), Buffer.alloc(2000));
  app = await open(room);
});
afterAll(async () => {
  await app.close();
  await rm(room, { recursive: true, force: true });
});

const get = (url: string, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> =>
  app.inject({ url, headers });

describe("a place of the console is its page", () => {
  test.each([
    "/console/",
    "/console/models/admin/mine",
    "/console/sign-in?from=%2F",
    "/console/index.html",
    "/console/.stamp",
  ])("%s", async (url) => {
    const answer = await get(url);
    expect([answer.statusCode, answer.body]).toEqual([200, page]);
    expect(answer.headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": checked,
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; " +
        "media-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none', " +
        "script-src *:*/console/assets/",
    });
  });

  test("and without its slash leads there, from wherever it is reached", async () => {
    const answer = await get("/console");
    expect([answer.statusCode, answer.headers.location]).toEqual([302, "console/"]);
  });
});

test("a file has its type, and is kept for ever when its name has its hash", async () => {
  const told = async (url: string) => {
    const { statusCode, headers } = await get(url);
    return [statusCode, headers["content-type"], headers["cache-control"]];
  };
  expect(await told("/console/mark.svg")).toEqual([200, "image/svg+xml", checked]);
  expect(await told("/console/assets/index-1a2b.js")).toEqual([200, "text/javascript; charset=utf-8", forEver]);
  expect(await told("/console/assets/font-1a2b.woff2")).toEqual([200, "application/octet-stream", forEver]);
});

test.each([
  "/console/assets/index-0000.js",
  "/console/assets/",
  "/console/assets/%2e%2e%2findex.html",
  "/console/api/none",
  "/console/%",
])("404: %s", async (url) => {
  const answer = await app.inject({ url });
  expect([answer.statusCode, answer.json()]).toEqual([404, { detail: "Not found", status_code: 404 }]);
  expect(answer.headers["cache-control"]).toBeUndefined();
});

test.each(["POST", "PUT", "DELETE"] as const)("%s is not allowed", async (method) => {
  for (const url of ["/console", "/console/", "/console/models", "/console/assets/index-1a2b.js"]) {
    const answer = await app.inject({ method, url });
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, "GET, HEAD"]);
  }
});

test("HEAD answers as GET does, without the content", async () => {
  const { headers } = await get("/console/assets/index-1a2b.js");
  const answer = await app.inject({ method: "HEAD", url: "/console/assets/index-1a2b.js" });
  expect([answer.statusCode, answer.body]).toEqual([200, ""]);
  for (const name of ["etag", "content-type", "content-length", "cache-control"]) {
    expect(answer.headers[name]).toBe(headers[name]);
  }
});

test("what is text comes in the encoding that the client likes, each with a tag of its own", async () => {
  const url = "/console/assets/index-1a2b.js";
  const plain = await get(url);
  const brotli = await get(url, { "accept-encoding": "gzip, deflate, br, zstd" });
  const gzip = await get(url, { "accept-encoding": "gzip, deflate" });
  expect([plain, brotli, gzip].map(({ headers }) => headers["content-encoding"])).toEqual([undefined, "br", "gzip"]);
  expect(brotliDecompressSync(brotli.rawPayload).toString()).toBe(script);
  expect(gunzipSync(gzip.rawPayload).toString()).toBe(script);
  expect(plain.body).toBe(script);
  expect(new Set([plain, brotli, gzip].map(({ headers }) => headers.etag)).size).toBe(3);
  for (const { headers } of [plain, brotli, gzip]) expect(headers.vary).toBe("accept-encoding");

  // What is small, or packed already, comes as it is.
  for (const other of ["/console/", "/console/assets/font-1a2b.woff2"]) {
    const { headers } = await get(other, { "accept-encoding": "br" });
    expect([headers["content-encoding"], headers.vary]).toEqual([undefined, undefined]);
  }
});

test("304 for a client that has the file", async () => {
  for (const [url, encoding] of [
    ["/console/", ""],
    ["/console/assets/index-1a2b.js", "br"],
  ] as const) {
    const { headers } = await get(url, { "accept-encoding": encoding });
    const again = await get(url, { "accept-encoding": encoding, "if-none-match": String(headers.etag) });
    expect([again.statusCode, again.body]).toEqual([304, ""]);
    for (const name of ["etag", "cache-control", "vary", "content-security-policy"]) {
      expect(again.headers[name]).toBe(headers[name]);
    }
    expect((await get(url, { "if-none-match": '"other"' })).statusCode).toBe(200);
  }
});

test("all of it is measured as one route", async () => {
  routes.length = 0;
  for (const url of ["/console", "/console/", "/console/a/b", "/console/mark.svg", "/console/assets/none"])
    await get(url);
  expect(new Set(routes)).toEqual(new Set(["/console/*"]));
});

test("pages may load and call what signed links lead to", async () => {
  const behind = await open(room, "https://files.example:9000/store");
  const policy = String((await behind.inject("/console/")).headers["content-security-policy"]);
  for (const part of ["img-src", "media-src", "connect-src"]) {
    expect(policy).toMatch(new RegExp(`${part} [^;]*https://files\\.example:9000(;|$)`));
  }
  expect(policy).toContain("script-src 'self';");
  await behind.close();
});

describe("where it is not built", () => {
  test.each(["/console/", "/console/models", "/console/assets/index-1a2b.js"])("%s says how to", async (url) => {
    const bare = await open(join(room, "nowhere"));
    const answer = await bare.inject(url);
    expect([answer.statusCode, answer.headers["content-type"]]).toEqual([503, "text/plain; charset=utf-8"]);
    expect(answer.body).toContain("npm run build");
    await bare.close();
  });

  test("or cannot be read, the server starts all the same", async () => {
    const bare = await open(join(room, "index.html"));
    expect((await bare.inject("/console/")).statusCode).toBe(503);
    await bare.close();
  });
});
