import { once } from "node:events";
import http, { type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createNet } from "./create-net.ts";
import type { Net } from "./net.ts";
import { pour } from "./pour.fixture.ts";

let server: http.Server;
let net: Net;
let answer: RequestListener;
let url: string;
let connections: number;

beforeEach(async () => {
  connections = 0;
  server = http.createServer((request, response) => answer(request, response));
  server.on("connection", () => {
    connections++;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  net = createNet({ allowPrivateNetwork: true });
});

afterEach(async () => {
  await net.close();
  server.closeAllConnections();
  server.close();
});

const megabyte = 1024 * 1024;

function pourOut(total: number): () => number {
  const poured = pour(total);
  answer = poured.answer;
  return poured.sent;
}

it("is read at once as text, JSON and bytes, from one chunk or many", async () => {
  const pieces = ["\ufeff", '{"a":"', "é🌊", '"}'];
  answer = async (request, response) => {
    for (const piece of pieces) {
      response.write(piece);
      if (request.url === "/slow") await sleep(10);
    }
    response.end();
  };
  for (const address of [url, `${url}slow`]) {
    const read = async () => (await net.request({ url: address })).body;
    expect(await (await read()).text()).toBe('{"a":"é🌊"}');
    expect(await (await read()).json()).toEqual({ a: "é🌊" });
    expect(Buffer.from(await (await read()).bytes()).toString()).toBe(pieces.join(""));
    let streamed = "";
    for await (const piece of (await read()).setEncoding("utf8")) streamed += piece;
    expect(streamed).toBe(pieces.join(""));
  }
  expect(connections).toBeLessThan(3);
});

it("makes the server wait while it is not read, and continues", async () => {
  const sent = pourOut(32 * megabyte);
  const { body } = await net.request({ url, bounds: { maxBytes: 64 * megabyte } });
  let before = -1;
  for (; sent() !== before; await sleep(100)) before = sent();
  expect(sent()).toBeLessThan(24 * megabyte);
  expect((await body.text()).length).toBe(32 * megabyte);
});

it("can be read only once", async () => {
  answer = (_, response) => void response.end("once");
  const { body } = await net.request({ url });
  expect(await body.text()).toBe("once");
  await expect(body.text()).rejects.toThrow("read already");
});

it("dumps a short rest and keeps the connection, cuts a long one", async () => {
  pourOut(64 * 1024);
  for (let n = 0; n < 6; n++) await (await net.request({ url })).body.dump();
  // A connection is free one tick after its answer, so two alternate.
  expect(connections).toBeLessThan(3);
  const sent = pourOut(64 * megabyte);
  await (await net.request({ url, bounds: { maxBytes: 128 * megabyte } })).body.dump();
  await sleep(50);
  expect(sent()).toBeLessThan(60 * megabyte);
});

it("ends the call and its readers when it is destroyed", async () => {
  let given: ServerResponse | undefined;
  answer = (_, response) => {
    given = response;
    response.write("a beginning");
  };
  const { body } = await net.request({ url });
  const whole = body.text();
  body.destroy();
  await expect(whole).rejects.toThrow("discarded");
  await expect.poll(() => given?.destroyed).toBe(true);
});

it("keeps a failure for a later reader", async () => {
  answer = (_, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("half", () => response.destroy());
  };
  const whole = (await net.request({ url })).body;
  const streamed = (await net.request({ url })).body;
  await sleep(50);
  await expect(whole.text()).rejects.toMatchObject({ reason: "cut" });
  const read = async () => {
    for await (const _ of streamed);
  };
  await expect(read()).rejects.toMatchObject({ reason: "cut" });
});

it("ignores early hints", async () => {
  answer = (_, response) => {
    response.writeEarlyHints({ link: "</style.css>; rel=preload" }, () => response.end("the answer"));
  };
  const response = await net.request({ url });
  expect([response.status, await response.body.text()]).toEqual([200, "the answer"]);
});
