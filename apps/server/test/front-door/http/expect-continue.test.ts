import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let poor: string;

beforeAll(async () => {
  gantry = await startGantry();
  poor = await gantry.newUser("poor", { credit: -1 });
});
afterAll(() => gantry.close());

const textPart = (name: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const form = `${textPart("prompt", "a boat")}--b--\r\n`;
const predict = "POST /api/v1/gantry/image/predict";

interface Asked {
  line: string;
  key?: string;
  type?: string;
  expect?: string;
  length?: number;
  host?: string;
}

/** A client that sends its head and sends the body only after 100 Continue. */
async function politely(asked: Asked, body = "") {
  const { line, key, type = "multipart/form-data; boundary=b", expect: wish = "100-continue", host = "x" } = asked;
  const length = asked.length ?? Buffer.byteLength(body);
  const socket = connect(Number(new URL(gantry.url).port), "127.0.0.1");
  let came = "";
  socket.setEncoding("utf8").on("data", (chunk) => {
    came += chunk;
  });
  socket.on("error", () => {});
  const closing = once(socket, "end").then(() => true);
  await once(socket, "connect");
  const auth = key === undefined ? "" : `X-API-KEY: ${key}\r\n`;
  socket.write(
    `${line} HTTP/1.1\r\nHost: ${host}\r\n${auth}Content-Type: ${type}\r\nContent-Length: ${length}\r\nExpect: ${wish}\r\n\r\n`,
  );
  await waitFor("an answer", () => came.includes("\r\n\r\n"));
  const told = came.startsWith("HTTP/1.1 100 ");
  if (told) {
    expect(came).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    socket.write(body);
    came = "";
    await waitFor("the answer", () => /\r\n\r\n(.*\}|0\r\n\r\n)/s.test(came));
  } else {
    await waitFor("the whole refusal", () => came.includes("}"));
  }
  const ended = await Promise.race([closing, sleep(500).then(() => false)]);
  socket.destroy();
  return { told, status: Number(came.slice(9, 12)), headers: came.split("\r\n\r\n")[0] ?? "", ended, came };
}

describe("a request that will be refused gets no 100 Continue", () => {
  test.each<[string, () => Asked, number]>([
    ["without a key", () => ({ line: predict, length: 5_000_000 }), 401],
    ["without a key, a short body", () => ({ line: predict, length: 100 }), 401],
    ["without money", () => ({ line: predict, key: poor, length: 5_000_000 }), 403],
    ["without money, a short body", () => ({ line: predict, key: poor, length: 100 }), 403],
    [
      "a body that is not a form",
      () => ({ line: predict, key: gantry.adminKey, type: "text/plain", length: 100 }),
      422,
    ],
    [
      "a model that there is not",
      () => ({ line: "POST /api/v1/gantry/none/predict", key: gantry.adminKey, length: 9 }),
      404,
    ],
    ["an address that there is not", () => ({ line: "POST /nowhere", key: gantry.adminKey, length: 5_000_000 }), 404],
    ["another method", () => ({ line: "PUT /api/v2/me", key: gantry.adminKey, length: 5_000_000 }), 405],
    ["a text model", () => ({ line: "POST /api/v1/gantry/text/predict", key: gantry.adminKey, length: 100 }), 200],
    [
      "a JSON body, without a key",
      () => ({ line: "PUT /api/v2/secrets/x", type: "application/json", length: 100 }),
      401,
    ],
    [
      "a JSON body that says itself that it is too long",
      () => ({ line: "PUT /api/v2/secrets/x", key: gantry.adminKey, type: "application/json", length: 50_000_000 }),
      422,
    ],
    ["an invalid upload link", () => ({ line: "PUT /s3/gantry/x?X-Amz-Signature=1", length: 5_000_000 }), 403],
    [
      "an agent's platform, without a key",
      () => ({ line: "POST /v1/agents", type: "application/json", length: 9 }),
      401,
    ],
  ])("%s", async (_, asked, status) => {
    const answer = await politely(asked());
    expect(answer.told, answer.came).toBe(false);
    expect(answer.status).toBe(status);
    // The body may still arrive, so no other request may follow on this connection.
    expect(answer.headers.toLowerCase()).toContain("connection: close");
    expect(answer.ended).toBe(true);
  });
});

test("a file that declares a size above its link's limit gets no 100 Continue", async () => {
  const link = new URL((await gantry.call("GET", "/api/v1/gantry/image/upload_url")).body.url);
  const line = `PUT ${link.pathname}${link.search}`;
  const answer = await politely({ line, host: link.host, type: "image/png", length: 600_000_000 });
  expect(answer).toMatchObject({ told: false, status: 422, ended: true });
  expect(answer.came).toContain("file_too_large");
});

test("a client that does not wait still reads its refusal", async () => {
  const socket = connect(Number(new URL(gantry.url).port), "127.0.0.1");
  let came = "";
  socket.setEncoding("utf8").on("data", (chunk) => {
    came += chunk;
  });
  let failure: unknown;
  socket.on("error", (error) => {
    failure = error;
  });
  socket.write(
    `${predict} HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 200000\r\nExpect: 100-continue\r\n\r\n`,
  );
  for (let i = 0; i < 20; i++) {
    socket.write("x".repeat(10_000));
    await sleep(5);
  }
  await waitFor("the refusal", () => came.includes("}"));
  socket.destroy();
  expect(failure).toBeUndefined();
  expect(came).toMatch(/^HTTP\/1.1 401 /);
});

describe("an accepted request gets one 100 Continue and keeps its connection", () => {
  test("a form", async () => {
    const answer = await politely({ line: predict, key: gantry.adminKey }, form);
    expect(answer).toMatchObject({ told: true, status: 200, ended: false });
  });

  test("a long form", async () => {
    const long = `${textPart("prompt", "a boat ".repeat(20_000))}--b--\r\n`;
    const answer = await politely({ line: predict, key: gantry.adminKey }, long);
    expect(answer).toMatchObject({ told: true, status: 200, ended: false });
  });

  test("JSON", async () => {
    const asked = { line: "PUT /api/v2/secrets/polite", key: gantry.adminKey, type: "application/json" };
    const answer = await politely(asked, JSON.stringify({ value: "x" }));
    expect(answer).toMatchObject({ told: true, status: 201, ended: false });
  });

  test("the bytes of a link", async () => {
    const link = (await gantry.call("GET", "/api/v1/gantry/image/upload_url")).body.url;
    const { pathname, search, host } = new URL(link);
    const socket = connect(Number(new URL(gantry.url).port), "127.0.0.1");
    let came = "";
    socket.setEncoding("utf8").on("data", (chunk) => {
      came += chunk;
    });
    socket.write(
      `PUT ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n`,
    );
    await waitFor("word to go on", () => came === "HTTP/1.1 100 Continue\r\n\r\n");
    socket.write("bytes");
    await waitFor("the answer", () => came.includes("HTTP/1.1 200 OK"));
    socket.destroy();
  });
});

test("pipelined requests are all answered and run once", async () => {
  const head = `X-API-KEY: ${gantry.adminKey}\r\nContent-Type: application/json\r\nContent-Length: 13\r\n`;
  const put = (name: string, more = "") => `PUT /api/v2/secrets/${name} HTTP/1.1\r\nHost: x\r\n${head}${more}\r\n`;
  const body = '{"value":"x"}';
  const socket = connect(Number(new URL(gantry.url).port), "127.0.0.1");
  let came = "";
  socket.setEncoding("utf8").on("data", (chunk) => {
    came += chunk;
  });
  const polite = put("first", "Expect: 100-continue\r\n") + body;
  socket.write(`${polite}${put("second")}${body}${put("third")}${body}`);
  await waitFor("three answers", () => came.split("HTTP/1.1 201 ").length === 4);
  expect(came.toLowerCase()).not.toContain("connection: close");
  socket.destroy();
});

test("another expectation is refused", async () => {
  const answer = await politely({ line: predict, key: gantry.adminKey, expect: "miracles", length: 5 });
  expect(answer).toMatchObject({ told: false, status: 400, ended: true });
  expect(answer.came).toContain("Expect");
});
