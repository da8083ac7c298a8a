import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNet, type NetOptions } from "./create-net.ts";
import { outside, startProxy, type TestProxy } from "./egress-proxy.fixture.ts";
import { AddressRefused, type Net } from "./net.ts";
import { pour } from "./pour.fixture.ts";
import { selfSigned } from "./self-signed.fixture.ts";

let closers: (() => unknown)[];
let sockets: Set<Socket>;
let proxy: TestProxy;

beforeEach(async () => {
  [closers, sockets] = [[], new Set()];
  proxy = await startProxy();
  closers.push(() => proxy.close());
});

afterEach(async () => {
  for (const close of closers.reverse()) await close();
});

async function listen(server: Server): Promise<number> {
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function netWith(options: Partial<NetOptions> = {}): Net {
  const made = createNet({ allowPrivateNetwork: false, egressProxy: proxy.address, ...options });
  closers.push(() => made.close());
  return made;
}

async function get(net: Net, url: string): Promise<string> {
  return (await net.request({ url })).body.text();
}

describe("through the egress proxy", () => {
  it("calls http and https, and reuses a tunnel", async () => {
    proxy.target = await listen(
      http.createServer((request, response) => response.end(`plain ${request.headers.host}`)),
    );
    const net = netWith({ ca: selfSigned.cert });
    expect(await get(net, `http://${outside}/`)).toBe(`plain ${outside}`);
    expect(await get(net, `http://${outside}/`)).toBe(`plain ${outside}`);
    expect(proxy.asked).toEqual([{ target: `${outside}:80`, authorization: undefined }]);
    proxy.target = await listen(https.createServer(selfSigned, (_, response) => response.end("safe")));
    expect(await get(net, `https://${outside}:8443/`)).toBe("safe");
    expect(await get(net, `https://${outside}:8443/`)).toBe("safe");
    expect(proxy.asked.slice(1)).toEqual([{ target: `${outside}:8443`, authorization: undefined }]);
  });

  it("checks the certificate of the upstream", async () => {
    proxy.target = await listen(https.createServer(selfSigned, (_, response) => response.end("no")));
    for (const [url, ca] of [
      [`https://${outside}/`, undefined],
      ["https://other.invalid/", selfSigned.cert],
    ] as const) {
      const call = get(netWith(ca === undefined ? {} : { ca }), url);
      await expect(call).rejects.toThrow("No secure connection to the server is possible");
    }
    expect(proxy.asked).toHaveLength(2);
  });

  it("sends the credentials of its address, decoded", async () => {
    proxy.target = await listen(http.createServer((_, response) => response.end("ok")));
    const egressProxy = proxy.address.replace("//", "//gantry:p%40ss@");
    expect(await get(netWith({ egressProxy }), `http://${outside}/`)).toBe("ok");
    expect(proxy.asked[0]?.authorization).toBe(`Basic ${Buffer.from("gantry:p@ss").toString("base64")}`);
  });

  it("refuses private addresses and names that resolve to one before it asks the proxy", async () => {
    const net = netWith();
    for (const host of ["127.0.0.1", "169.254.169.254", "[::1]", "localhost"]) {
      await expect(get(net, `http://${host}/`), host).rejects.toBeInstanceOf(AddressRefused);
    }
    expect(proxy.asked).toEqual([]);
  });

  it("reaches private addresses directly if they are allowed", async () => {
    const port = await listen(http.createServer((_, response) => response.end("inside")));
    expect(await get(netWith({ allowPrivateNetwork: true }), `http://localhost:${port}/`)).toBe("inside");
    const url = `http://127.0.0.1:${port}`;
    expect(await get(netWith({ exempt: [url] }), url)).toBe("inside");
    expect(proxy.asked).toEqual([]);
  });

  it("makes the server wait while the answer is not read", async () => {
    const total = 32 * 1024 * 1024;
    const { answer, sent } = pour(total);
    proxy.target = await listen(http.createServer(answer));
    const { body } = await netWith().request({ url: `http://${outside}/`, bounds: { maxBytes: 2 * total } });
    let before = -1;
    for (; sent() !== before; await sleep(100)) before = sent();
    expect(sent()).toBeLessThan(24 * 1024 * 1024);
    expect((await body.text()).length).toBe(total);
  });

  it.each(["http", "https"])("closes the upstream connection when the call is aborted, over %s", async (protocol) => {
    let open = 0;
    const answer: http.RequestListener = (_, response) => {
      open++;
      response.on("close", () => open--).write("begun");
    };
    proxy.target = await listen(
      protocol === "http" ? http.createServer(answer) : https.createServer(selfSigned, answer),
    );
    const leaving = new AbortController();
    const net = netWith({ ca: selfSigned.cert });
    const { body } = await net.request({ url: `${protocol}://${outside}/`, signal: leaving.signal });
    expect(open).toBe(1);
    leaving.abort(new Error("the client left"));
    await expect(body.text()).rejects.toThrow("the client left");
    await expect.poll(() => open).toBe(0);
  });

  it.each([
    ["refuses", "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", "answered with status 407"],
    ["is not a proxy", "SSH-2.0-OpenSSH_9.2\r\n\r\n", "did not answer with HTTP"],
    ["sends headers without an end", `HTTP/1.1 200 OK\r\nX-A: ${"a".repeat(20_000)}`, "did not answer with HTTP"],
    ["sends more than its answer", "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\nforged", "did not answer with HTTP"],
  ])("fails if the proxy %s", async (_, answer, message) => {
    proxy.reply = (socket) => socket.write(answer);
    const call = get(netWith(), `http://${outside}/`);
    await expect(call).rejects.toMatchObject({ reason: "unreachable" });
    await expect(call).rejects.toThrow(`The egress proxy ${message}`);
  });

  it("fails if the proxy disconnects, does not answer or does not run", async () => {
    proxy.reply = (socket) => socket.end("HTTP/1.1 2");
    await expect(get(netWith(), `http://${outside}/`)).rejects.toThrow("The egress proxy closed the connection");
    proxy.reply = () => {};
    const silent = get(netWith({ connectMs: 200 }), `http://${outside}/`);
    await expect(silent).rejects.toMatchObject({ reason: "timeout" });
    const gone = get(netWith({ egressProxy: "http://127.0.0.1:1" }), `http://${outside}/`);
    await expect(gone).rejects.toMatchObject({ reason: "unreachable" });
    await expect(gone).rejects.toThrow("The egress proxy could not be reached");
  });
});
