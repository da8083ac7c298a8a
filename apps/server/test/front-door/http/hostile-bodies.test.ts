import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
const path = "/api/v1/gantry/image/predict";

beforeAll(async () => {
  gantry = await startGantry();
});

afterAll(() => gantry.close());

/** No request here may cost anything. */
afterEach(async () => {
  await waitFor("the spool to be empty", async () => (await readdir(join(gantry.home, "spool"))).length === 0);
  await waitFor(
    "nothing to be live",
    async () => (await gantry.database.sql`select 1 from live_predictions`).length === 0,
  );
  expect(await gantry.database.sql`select 1 from files where state = 'awaiting' and origin <> 'link'`).toEqual([]);
  expect((await gantry.call("GET", "/api/v2/me")).status).toBe(200);
});

const part = (name: string, value: string, more = "") =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;

async function send(body: string | Uint8Array<ArrayBuffer>, contentType = "multipart/form-data; boundary=b") {
  const headers = { "x-api-key": gantry.adminKey, "content-type": contentType };
  const answer = await fetch(gantry.url + path, { method: "POST", headers, body });
  const text = await answer.text();
  return { status: answer.status, text, body: JSON.parse(text) };
}

/** Sends raw bytes; returns the answer until the server closes or `until` appears. */
async function raw(pieces: readonly (string | Buffer)[], { end = false, until = "" } = {}): Promise<string> {
  const socket = connect(Number(new URL(gantry.url).port), "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  let answer = "";
  socket.setEncoding("utf8").on("data", (chunk) => {
    answer += chunk;
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  for (const piece of pieces) {
    if (socket.destroyed) break;
    if (!socket.write(piece)) await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed]);
  }
  if (end) socket.end();
  if (until) await waitFor(until, () => answer.includes(until) || socket.closed);
  else await Promise.race([closed, sleep(5_000)]);
  socket.destroy();
  return answer;
}

const head = (length: number | string, to = path) =>
  `POST ${to} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${gantry.adminKey}\r\nContent-Type: multipart/form-data; boundary=b\r\n${
    typeof length === "number" ? `Content-Length: ${length}` : length
  }\r\n\r\n`;

describe("a form", () => {
  test.each([
    ["without a boundary", "multipart/form-data", `${part("prompt", "x")}--b--\r\n`],
    ["with another boundary than it says", "multipart/form-data; boundary=c", `${part("prompt", "x")}--b--\r\n`],
    ["that does not end", "multipart/form-data; boundary=b", part("prompt", "x")],
    ["of noise", "multipart/form-data; boundary=b", "\0\r\n--\r\n--b-\r\n\r\n"],
    ["with a part that has no name", "multipart/form-data; boundary=b", "--b\r\n\r\nx\r\n--b--\r\n"],
  ])("%s is a 422 with its reason", async (_what, contentType, body) => {
    const answer = await send(body, contentType);
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.detail[0]).toMatchObject({ loc: ["body"], type: "multipart_invalid" });
  });

  test("of ten thousand parts is refused at the first excess part", async () => {
    const parts = Array.from({ length: 10_000 }, (_, n) => part(`f${n}`, "x")).join("");
    const answer = await send(`${parts}--b--\r\n`);
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]).toMatchObject({ type: "too_many_fields", ctx: { max_fields: 32 } });
    const files = Array.from({ length: 10_000 }, (_, n) => part(`f${n}`, "x", '; filename="a"')).join("");
    expect((await send(`${files}--b--\r\n`)).body.detail[0]).toMatchObject({ type: "too_many_fields" });
  });

  test("with a text of more than 1 MB is refused before the text is complete", async () => {
    const answer = await send(`${part("prompt", "x".repeat(5_000_000))}--b--\r\n`);
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]).toMatchObject({ type: "string_too_long", loc: ["body", "prompt"] });
  });

  test.each(["__proto__", "constructor", "toString", "hasOwnProperty", "user", "webhook", "i_prompt"])(
    "with the unknown field %s is refused",
    async (name) => {
      const answer = await send(`${part("prompt", "x")}${part(name, "{}")}--b--\r\n`);
      expect(answer.status).toBe(422);
      expect(answer.body.detail).toMatchObject([{ type: "extra_forbidden", loc: ["body", name] }]);
    },
  );

  test("with invalid text names the field", async () => {
    const answer = await send(new Uint8Array(Buffer.from(`${part("prompt", "\xff\xfe")}--b--\r\n`, "latin1")));
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]).toMatchObject({ type: "string_type", loc: ["body", "prompt"] });
  });

  test("with a NUL, a lone surrogate's bytes or right-to-left marks is painted or refused, never a 500", async () => {
    for (const prompt of ["a\0b", "\u202egnirts", "🚁".repeat(1000), "\u0000".repeat(100), " "]) {
      const answer = await gantry.call("POST", path, { form: { prompt, size: "1280x720" } });
      expect([200, 422], answer.text).toContain(answer.status);
    }
  });
});

describe("a body", () => {
  test("that the client breaks off costs nothing and is not a server error", async () => {
    const logged = gantry.logged().length;
    const body = `${part("prompt", "x")}${part("image", "y".repeat(100_000), '; filename="a.png"')}`;
    await raw([head(1_000_000), body], { end: true });
    await raw([head("Transfer-Encoding: chunked"), `${body.length.toString(16)}\r\n${body}`], { end: true });
    const socket = connect(Number(new URL(gantry.url).port), "127.0.0.1");
    await once(socket, "connect");
    socket.write(head(10_000_000) + body);
    await waitFor("the file to be under way", async () => (await readdir(join(gantry.home, "spool"))).length === 1);
    socket.resetAndDestroy();
    await waitFor("the file to be gone", async () => (await readdir(join(gantry.home, "spool"))).length === 0);
    expect(gantry.logged().slice(logged)).not.toContain("Internal server error");
  });

  test("that never ends is answered and then no longer read", async () => {
    const chunk = (bytes: string | Buffer) =>
      Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), Buffer.from(bytes), Buffer.from("\r\n")]);
    const opening = `${part("prompt", "x")}--b\r\nContent-Disposition: form-data; name="image"; filename="a"\r\n\r\n`;
    const pieces = Array.from({ length: 200 }, () => chunk(Buffer.alloc(1_048_576, "z")));
    const startedAt = performance.now();
    const answer = await raw([head("Transfer-Encoding: chunked"), chunk(opening), ...pieces]);
    expect(answer).toMatch(/^HTTP\/1\.1 422 /);
    expect(answer).toContain("file_too_large");
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });

  test("of JSON, with a declared 3 GB, or without content is Field required at once", async () => {
    const json = (length: number) =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${gantry.adminKey}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
    const answer = await raw([json(3_000_000_000), '{"prompt": "x'], { until: "Field required" });
    expect(answer).toMatch(/^HTTP\/1\.1 422 /);
    expect((await gantry.call("POST", path)).body.detail).toMatchObject([{ type: "missing", loc: ["body", "prompt"] }]);
  });

  test("is not read without a key, a known model or funds", async () => {
    const poor = await gantry.newUser("penniless", { credit: -1 });
    const wrong = (key: string, to: string) =>
      `POST ${to} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${key}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000000\r\n\r\n`;
    for (const [key, to, status] of [
      ["nonsense", path, 401],
      [gantry.adminKey, "/api/v1/gantry/nothing/predict", 404],
      [poor, path, 403],
    ] as const) {
      const answer = await raw([wrong(key, to), part("prompt", "x")], { until: "\r\n\r\n" });
      expect(answer, to).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    }
  });
});

describe("a malformed request", () => {
  test.each([
    ["noise", "\x16\x03\x01 hello\r\n\r\n"],
    ["an unknown method", "BREW / HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"],
    [
      "a length and chunks",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["endless headers", `GET / HTTP/1.1\r\nHost: x\r\nX: ${"y".repeat(100_000)}\r\n\r\n`],
    ["no host", "GET / HTTP/1.1\r\n\r\n"],
    ["a host with an impossible port", "GET / HTTP/1.1\r\nHost: foo:99999\r\n\r\n"],
    ["a host of brackets", "GET / HTTP/1.1\r\nHost: ]]\r\n\r\n"],
    ["an empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n"],
    ["a host of 3000 characters", `GET / HTTP/1.1\r\nHost: ${"a".repeat(3000)}\r\n\r\n`],
    ["a tunnel", "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n"],
    ["an expectation", "POST / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\n"],
  ])("%s is a 400 with a request id", async (_what, bytes) => {
    const answer = await raw([bytes]);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/x-request-id: req_/);
    expect(answer).toContain("request_invalid");
    expect(answer).toContain(`"url":"${gantry.url}/docs/errors#request_invalid"`);
  });

  test("a client that sends a too large JSON body to its end can read the refusal", async () => {
    const head = `Host: x\r\nX-API-Key: ${gantry.adminKey}\r\nContent-Type: application/json\r\nContent-Length: 20000000`;
    for (const line of ["POST /api/v2/keys", "PUT /api/v1/admin/big", "POST /api/v1/gantry/text/predict/cancel"]) {
      const answer = await raw([`${line} HTTP/1.1\r\n${head}\r\n\r\n`, Buffer.alloc(20_000_000, " ")]);
      expect(answer, line).toMatch(/^HTTP\/1\.1 422 /);
      expect(answer, line).toContain("sequence_too_long");
    }
  });

  test("HTTP/1.0 may omit the host, and links then use the called address", async () => {
    const key = `X-API-Key: ${gantry.adminKey}`;
    const answer = await raw([`GET /api/v1/gantry/image/upload_url HTTP/1.0\r\n${key}\r\n\r\n`]);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain(`"url":"${gantry.url}/s3/`);
  });

  test("a client that disconnects in the middle of JSON is not a server error", async () => {
    for (const path of ["/api/v2/keys", "/v1/agents", "/api/v1/gantry/text/predict/cancel"]) {
      const headers = `Host: x\r\nX-API-KEY: ${gantry.adminKey}\r\nContent-Type: application/json\r\nContent-Length: 100`;
      const socket = connect(Number(new URL(gantry.url).port), "127.0.0.1");
      socket.write(`POST ${path} HTTP/1.1\r\nX-Request-Id: left-in-the-middle\r\n${headers}\r\n\r\n{"name":`);
      await sleep(100);
      socket.destroy();
    }
    await sleep(300);
    const lines = gantry.logged().split("\n");
    expect(lines.filter((line) => line.includes("left-in-the-middle") && line.includes('"level":50'))).toEqual([]);
  });

  test("a refusal without a body leaves the connection open", async () => {
    const answer = await fetch(`${gantry.url}/api/v1/no/model`, { headers: { "x-api-key": gantry.adminKey } });
    expect([answer.status, answer.headers.get("connection")]).toEqual([404, "keep-alive"]);
  });
});

describe("an image", () => {
  const predict = (bytes: Uint8Array, name = "a.png") =>
    gantry.call("POST", path, { form: { prompt: "x", image: new File([new Uint8Array(bytes)], name) } });
  const blank = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: "#000" } })
      .png({ compressionLevel: 9 })
      .toBuffer();

  test("with other content is recognised by its bytes", async () => {
    const answer = await predict(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"));
    expect(answer.body.detail[0]).toMatchObject({
      type: "invalid_image_format",
      loc: ["body", "image"],
      ctx: { supported_formats: [".jpg", ".jpeg", ".png", ".webp"] },
    });
  });

  test("that is a small file with huge dimensions is refused before it is decoded", async () => {
    const bomb = await blank(12_000, 12_000);
    expect(bomb.length).toBeLessThan(1_000_000);
    const answer = await predict(bomb);
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]).toMatchObject({ type: "image_too_large", ctx: { width: 12_000, height: 12_000 } });
  });

  test("that is too small, truncated or empty gets its own error", async () => {
    expect((await predict(await blank(13, 100))).body.detail[0].type).toBe("image_too_small");
    const whole = await sharp(await blank(300, 300))
      .jpeg()
      .toBuffer();
    expect((await predict(whole.subarray(0, whole.length / 2))).body.detail[0].type).toBe("image_load_error");
    expect((await predict(new Uint8Array(0))).body.detail[0].type).toBe("invalid_image_format");
  });

  test("at a private address is not fetched", async () => {
    const guarded = await startGantry({ env: { GANTRY_ALLOW_PRIVATE_NETWORK: "0" } });
    try {
      for (const image of [
        "http://127.0.0.1:1/x.png",
        "http://169.254.169.254/",
        "http://[::1]/",
        "file:///etc/passwd",
        "ftp://x/y",
      ]) {
        const answer = await guarded.call("POST", path, { form: { prompt: "x", image } });
        expect(answer.status, image).toBe(422);
        expect(answer.body.detail[0], image).toMatchObject({ type: "file_download_error", loc: ["body", "image"] });
      }
    } finally {
      await guarded.close();
    }
  });
});
