import { once } from "node:events";
import http, { type IncomingMessage, type RequestListener } from "node:http";
import https from "node:https";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNet } from "../create-net.ts";
import { type Net, NetError } from "../net.ts";
import { pour } from "../pour.fixture.ts";
import { selfSigned } from "../self-signed.fixture.ts";

let net: Net;
let servers: Server[];
let sockets: Socket[];

beforeEach(() => {
  net = createNet({ allowPrivateNetwork: true, ca: selfSigned.cert });
  servers = [];
  sockets = [];
});

afterEach(async () => {
  await net.close();
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.on("connection", (socket: Socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const serve = async (listener: RequestListener) => `http://127.0.0.1:${await listen(http.createServer(listener))}/`;

/** Answers request n with the n-th bytes. */
const serveRaw = async (answer: (socket: Socket, n: number) => void) => {
  let n = 0;
  const port = await listen(createServer((socket) => socket.on("data", () => answer(socket, n++))));
  return `http://127.0.0.1:${port}/`;
};

const ok = (text: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
const get = async (url: string) => (await (await net.request({ url })).body.text()) as string;
const bodyOf = async (request: IncomingMessage) => Buffer.concat(await request.toArray()).toString();

async function reasonOf(call: Promise<unknown>): Promise<string> {
  const error = await call.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(NetError);
  return (error as NetError).reason;
}

describe("connections", () => {
  it("carry one call at a time, and are opened for parallel calls", async () => {
    const url = await serve((_, response) => void setTimeout(() => response.end("ok"), 5));
    for (let n = 0; n < 10; n++) await get(url);
    expect(sockets).toHaveLength(1);
    await Promise.all(Array.from({ length: 10 }, () => get(url)));
    expect(sockets).toHaveLength(10);
    await Promise.all(Array.from({ length: 10 }, () => get(url)));
    expect(sockets).toHaveLength(10);
  });

  it("are limited, and waiting calls start in order", async () => {
    const narrow = createNet({ allowPrivateNetwork: true, maxConnectionsPerOrigin: 2 });
    const order: string[] = [];
    const url = await serve((request, response) => {
      order.push(String(request.url));
      setTimeout(() => response.end("ok"), 5);
    });
    const all = Array.from({ length: 12 }, async (_, n) => (await narrow.request({ url: `${url}${n}` })).body.text());
    await Promise.all(all);
    expect(sockets).toHaveLength(2);
    expect(order).toEqual(Array.from({ length: 12 }, (_, n) => `/${n}`));
    await narrow.close();
  });

  it("fail one call each if they cannot be opened", async () => {
    const narrow = createNet({ allowPrivateNetwork: true, maxConnectionsPerOrigin: 2 });
    const port = await listen(createServer());
    servers.pop()?.close();
    const url = `http://127.0.0.1:${port}/`;
    const reasons = await Promise.all(Array.from({ length: 5 }, () => reasonOf(narrow.request({ url }))));
    expect(new Set(reasons)).toEqual(new Set(["unreachable"]));
    await narrow.close();
  });

  it("are not reused after the server closed them", async () => {
    const url = await serve((_, response) => response.end("ok"));
    await get(url);
    sockets[0]?.destroy();
    await sleep(20);
    expect(await get(url)).toBe("ok");
    expect(sockets).toHaveLength(2);
  });

  it("are closed before the server's announced timeout", async () => {
    const url = await serveRaw((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\n${ok("ok").slice(17)}`),
    );
    expect(await get(url)).toBe("ok");
    expect(await get(url)).toBe("ok");
    expect(sockets).toHaveLength(2);
  });

  it("are not reused after unexpected bytes", async () => {
    const url = await serveRaw((socket, n) => {
      socket.write(n === 0 ? ok("one") + ok("forged") : ok(`answer ${n}`));
    });
    expect(await get(url)).toBe("one");
    expect(await get(url)).toBe("answer 1");
    // Also while idle.
    sockets.at(-1)?.write(ok("forged"));
    await sleep(20);
    expect(await get(url)).toBe("answer 2");
    expect(sockets).toHaveLength(3);
  });

  it("end running calls on close", async () => {
    const url = await serve(() => {});
    const call = reasonOf(net.request({ url }));
    await expect.poll(() => sockets.length).toBe(1);
    await net.close();
    expect(await call).toBe("cut");
  });
});

describe("a request body", () => {
  it("arrives completely, with a length and in chunks", async () => {
    const url = await serve(async (request, response) => {
      const { "content-length": length, "transfer-encoding": coding } = request.headers;
      response.end(JSON.stringify({ length, coding, body: await bodyOf(request) }));
    });
    const send = async (body: Parameters<Net["request"]>[0]["body"], headers = {}) =>
      (await net.request({ url, method: "POST", headers, body })).body.json();
    expect(await send("é🌊")).toEqual({ length: "6", body: "é🌊" });
    expect(await send("é", { "x-name": "\u00e9" })).toEqual({ length: "2", body: "é" });
    expect(await send(Buffer.from("bytes"))).toEqual({ length: "5", body: "bytes" });
    expect(await send(undefined)).toEqual({ length: "0", body: "" });
    expect(await send(Readable.from(["a", "", "bc"]))).toEqual({ coding: "chunked", body: "abc" });
    expect(await send(Readable.from(["a", "bc"]), { "content-length": "3" })).toEqual({ length: "3", body: "abc" });
    expect(sockets).toHaveLength(1);
  });

  it("is sent no faster than the server reads", async () => {
    let read = () => {};
    const url = await serve((request, response) => {
      read = () => void bodyOf(request).then((text) => response.end(String(text.length)));
    });
    let made = 0;
    const piece = Buffer.alloc(64 * 1024, "x");
    const endless = Readable.from(
      (function* () {
        for (; made < 512; made++) yield piece;
      })(),
    );
    const call = net.request({ url, method: "POST", body: endless });
    let before = -1;
    for (; made !== before; await sleep(100)) before = made;
    expect(made).toBeLessThan(400);
    read();
    expect(await (await call).body.text()).toBe(String(512 * piece.length));
  });

  it("must match its declared length", async () => {
    const url = await serve(
      (request, response) =>
        void bodyOf(request)
          .then(() => response.end())
          .catch(() => {}),
    );
    const send = (length: string) =>
      net.request({ url, method: "POST", headers: { "content-length": length }, body: Readable.from(["abc"]) });
    expect(await reasonOf(send("2"))).toBe("cut");
    expect(await reasonOf(send("4"))).toBe("cut");
  });

  it("that fails ends the call", async () => {
    const url = await serve(() => {});
    const body = new Readable({ read: () => {} });
    const call = reasonOf(net.request({ url, method: "POST", body }));
    body.push("half");
    await expect.poll(() => sockets.length).toBe(1);
    body.destroy(new Error("the disk is gone"));
    expect(await call).toBe("cut");
  });

  it("is destroyed if it cannot be sent", async () => {
    const port = await listen(createServer());
    servers.pop()?.close();
    const unsent = Readable.from(["never"]);
    expect(await reasonOf(net.request({ url: `http://127.0.0.1:${port}/`, method: "POST", body: unsent }))).toBe(
      "unreachable",
    );
    expect(unsent.destroyed).toBe(true);
    const unsendable = Readable.from(["never"]);
    const headers = { "x-a": "a\nb" };
    expect(await reasonOf(net.request({ url: "http://127.0.0.1/", headers, body: unsendable }))).toBe("invalid_url");
    expect(unsendable.destroyed).toBe(true);

    const narrow = createNet({ allowPrivateNetwork: true, maxConnectionsPerOrigin: 1 });
    const url = await serve(() => {});
    void narrow.request({ url }).catch(() => {});
    const leaving = new AbortController();
    const waiting = Readable.from(["never"]);
    const call = narrow.request({ url, method: "POST", body: waiting, signal: leaving.signal });
    leaving.abort(new Error("the client left"));
    await expect(call).rejects.toThrow("the client left");
    expect(waiting.destroyed).toBe(true);
    await narrow.close();
  });

  it("is destroyed if the server answers before its end", async () => {
    const url = await serve((_, response) => response.writeHead(413).end("too much"));
    const body = new Readable({ read: () => {} });
    body.push("the beginning");
    const answer = await net.request({ url, method: "POST", body });
    expect([answer.status, await answer.body.text()]).toEqual([413, "too much"]);
    await expect.poll(() => body.destroyed).toBe(true);
    expect(await (await net.request({ url })).body.text()).toBe("too much");
    expect(sockets).toHaveLength(2);
  });
});

describe("an invalid request", () => {
  it.each([
    ["a line break in a value", { "x-a": "a\r\nx-b: c" }],
    ["a line break in a name", { "x-a\r\nx-b": "c" }],
    ["no name", { "": "c" }],
    ["a character of two bytes", { "x-a": "\u0141" }],
    ["its own framing", { "transfer-encoding": "chunked" }],
    ["another length", { "content-length": "7" }],
    ["another use of the connection", { Connection: "upgrade" }],
  ])("is refused before anything is sent: %s", async (_, headers) => {
    let seen = 0;
    const url = await serve((_, response) => {
      seen++;
      response.end("ok");
    });
    expect(await reasonOf(net.request({ url, method: "POST", headers, body: "hello" }))).toBe("invalid_url");
    expect(await get(url)).toBe("ok");
    expect(seen).toBe(1);
  });
});

describe("over TLS", () => {
  it("makes the server wait while the answer is not read, and continues", async () => {
    const total = 32 * 1024 * 1024;
    const { answer, sent } = pour(total);
    const server = https.createServer(selfSigned, answer);
    const url = `https://localhost:${await listen(server)}/`;
    const { body } = await net.request({ url, bounds: { maxBytes: 2 * total } });
    let before = -1;
    for (; sent() !== before; await sleep(100)) before = sent();
    expect(sent()).toBeLessThan(24 * 1024 * 1024);
    expect((await body.text()).length).toBe(total);
  });

  it("carries long answers and many calls at once, each with its own bytes", async () => {
    const server = https.createServer(selfSigned, (request, response) => {
      response.end(String(request.url).slice(1).repeat(200_000));
    });
    const port = await listen(server);
    const read = async (letter: string) => get(`https://localhost:${port}/${letter}`);
    for (let round = 0; round < 3; round++) {
      const all = await Promise.all([..."abcdefgh"].map(read));
      expect(all.map((text) => [text.length, new Set(text).size, text[0]])).toEqual(
        [..."abcdefgh"].map((letter) => [200_000, 1, letter]),
      );
    }
    expect(sockets).toHaveLength(8);
  });
});
