import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

/** As outside of tests, 30 times faster: a window of a second, 10 kB in each. */
const pace = { shortBytes: 64 * 1024, windowMs: 1_000, bytesPerSecond: 10 * 1024, checkMs: 50 };

let gantry: GantryNode;
let drive: string;
let upload: string;

beforeAll(async () => {
  gantry = await startGantry({ pace });
  drive = (await gantry.call("POST", "/v1/drives", { json: { name: "slow" } })).body.id;
  const form = { path: "a", file: new Blob(["first"]) };
  expect((await gantry.call("POST", `/v1/drives/${drive}/files`, { form })).status).toBe(201);
  const link = new URL((await gantry.call("GET", "/api/v1/gantry/image/upload_url")).body.url);
  upload = link.pathname + link.search;
});
afterAll(() => gantry.close());

interface Sending {
  socket: Socket;
  /** The whole answer, once the server has closed the connection. */
  answer: Promise<{ status: number; head: string; body: string; afterMs: number }>;
}

function begin(method: string, path: string, headers: Record<string, string | number>): Sending {
  const { hostname, port, host } = new URL(gantry.url);
  const socket = connect(Number(port), hostname);
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  const from = performance.now();
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  const answer = new Promise<void>((resolve) => {
    socket.on("close", () => resolve());
    socket.on("error", () => resolve());
  }).then(() => {
    const [head = ""] = text.split("\r\n\r\n", 1);
    // Strip chunk lengths.
    const body = text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
    return { status: Number(head.split(" ")[1]), head: head.toLowerCase(), body, afterMs: performance.now() - from };
  });
  return { socket, answer };
}

/** Sends one byte at a time until the server closes. */
async function drip({ socket, answer }: Sending, bytes = "x", everyMs = 100): Promise<void> {
  const ended = answer.then(() => true);
  while (!(await Promise.race([ended, sleep(everyMs, false)]))) socket.write(bytes);
}

const key = () => ({ "x-api-key": gantry.adminKey });
const json = { "content-type": "application/json" };
const form = { "content-type": "multipart/form-data; boundary=b" };
const field = '--b\r\nContent-Disposition: form-data; name="prompt"\r\n\r\n';

describe("a body that arrives byte by byte is 408 in the route's error format", () => {
  const ofModel = { detail: expect.stringContaining("The body"), status_code: 408 };
  const ofAgents = { error: { type: "request_timeout", code: "request_timeout", message: expect.any(String) } };
  test.each([
    ["POST", "/console/api/session", { ...json, "content-length": 100 }, "{", ofModel],
    ["POST", "/api/v2/keys", { ...json, "content-length": 100 }, "{", ofModel],
    ["POST", "/api/v2/keys", { ...json, "transfer-encoding": "chunked" }, "", ofModel],
    ["PUT", "/api/v1/admin/slow", { ...json, "content-length": 60_000 }, "{", ofModel],
    ["POST", "/v1/agents", { ...json, "content-length": 100 }, "{", ofAgents],
    ["POST", "/mcp", { ...json, "content-length": 100 }, "{", { jsonrpc: "2.0", error: { code: -32_000 } }],
    ["POST", "/api/v1/gantry/image/predict/cancel", { ...json, "content-length": 100 }, "{", ofModel],
    ["POST", "/api/v1/gantry/image/predict", { ...form, "content-length": 1_000 }, field, ofModel],
    ["POST", "/api/v1/gantry/image/predict", { ...form, "content-length": 1_000_000 }, field, ofModel],
    ["POST", "/api/v1/gantry/image/predict/async/", { ...form, "content-length": 1_000 }, field, ofModel],
    ["POST", "/api/v1/gantry/image/upload_file", { ...form, "content-length": 1_000_000 }, field, ofModel],
    ["PUT", "link", { "content-type": "image/png", "content-length": 1_000_000 }, "", ofModel],
    ["PUT", "file", { "content-type": "image/png", "content-length": 1_000_000 }, "", ofAgents],
    ["POST", "files", { ...form, "content-length": 1_000_000 }, field, ofAgents],
  ])("%s %s %j", async (method, path, headers, first, body) => {
    const places: Record<string, string> = {
      link: upload,
      file: `/v1/drives/${drive}/files/a`,
      files: `/v1/drives/${drive}/files`,
    };
    const isChunked = "transfer-encoding" in headers;
    const sending = begin(method, places[path] ?? path, { ...headers, ...key() });
    sending.socket.write(first);
    await drip(sending, isChunked ? "1\r\n \r\n" : "x");
    const answer = await sending.answer;
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([408, body]);
    expect(answer.head).toContain("connection: close");
    expect(answer.head).toContain("x-service-retryable: true");
    expect(answer.afterMs).toBeLessThan(5_000);
  });

  test("and leaves no files", async () => {
    expect((await gantry.call("GET", `/v1/drives/${drive}/files/a`)).text).toBe("first");
    expect(gantry.logged()).not.toContain('"level":"error"');
  });
});

test("a long body may take its time while it keeps its pace", async () => {
  const sending = begin("PUT", `/v1/drives/${drive}/files/a`, {
    "content-length": 150_000,
    connection: "close",
    ...key(),
  });
  for (let i = 0; i < 30; i++) {
    sending.socket.write(Buffer.alloc(5_000, "a"));
    await sleep(120);
  }
  expect((await sending.answer).status).toBe(200);
});

test("a JSON body that arrives steadily still has a deadline", async () => {
  const sending = begin("POST", "/api/v2/keys", { ...json, "content-length": 60_000, ...key() });
  await drip(sending, " ".repeat(2_000));
  expect((await sending.answer).status).toBe(408);
});

test("a body that its route never reads does not keep the connection open", async () => {
  const sending = begin("DELETE", `/v1/drives/${drive}/files/none`, { "content-length": 2_000_000, ...key() });
  await drip(sending);
  const { status, afterMs } = await sending.answer;
  expect([status, afterMs < 5_000]).toEqual([404, true]);
});

test("signing in takes 4 kB", async () => {
  const answer = await gantry.call("POST", "/console/api/session", { key: "", json: { key: "k".repeat(4_096) } });
  expect([answer.status, answer.body.detail[0].msg]).toEqual([422, "The body is too large"]);
  const fits = await gantry.call("POST", "/console/api/session", { key: "", json: { key: "k".repeat(4_000) } });
  expect(fits.status).toBe(401);
});

test("a body without a valid key is not read", async () => {
  const routes = [
    ["POST", "/api/v2/keys", json],
    ["PUT", "/api/v1/admin/mine", json],
    ["PUT", "/api/v2/secrets/mine", json],
    ["POST", "/v1/agents", json],
    ["POST", "/mcp", json],
    ["POST", "/api/v1/gantry/image/predict", form],
    ["PUT", `/v1/drives/${drive}/files/a`, {}],
  ] as const;
  for (const [method, path, headers] of routes) {
    const { socket, answer } = begin(method, path, { ...headers, "content-length": 1_000_000 });
    socket.once("data", () => socket.destroy());
    expect([path, (await answer).status]).toEqual([path, 401]);
  }
});
