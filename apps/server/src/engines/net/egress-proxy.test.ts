import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseNetworkEntry } from "../../kernel/network-entry.ts";
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
  const egress = { http: proxy.address, https: proxy.address };
  const made = createNet({ allowPrivateNetwork: false, egress, ...options });
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
      ["https://8.8.8.8:8443/", selfSigned.cert],
    ] as const) {
      const call = get(netWith(ca === undefined ? {} : { ca }), url);
      await expect(call).rejects.toThrow("No secure connection to the server is possible");
    }
    expect(proxy.asked).toHaveLength(3);
  });

  it("calls an IP address that the certificate names", async () => {
    proxy.target = await listen(https.createServer(selfSigned, (_, response) => response.end("safe")));
    expect(await get(netWith({ ca: selfSigned.cert }), "https://8.8.4.4:8443/")).toBe("safe");
    expect(proxy.asked).toMatchObject([{ target: "8.8.4.4:8443" }]);
  });

  it("sends the credentials of its address, decoded", async () => {
    proxy.target = await listen(http.createServer((_, response) => response.end("ok")));
    const http1 = proxy.address.replace("//", "//gantry:p%40ss@");
    expect(await get(netWith({ egress: { http: http1 } }), `http://${outside}/`)).toBe("ok");
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
    ["refuses", "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "answered with status 403"],
    ["wants credentials", "HTTP/1.1 407 Auth\r\n\r\n", "answered with status 407: it needs a user and a password"],
    ["is not a proxy", "SSH-2.0-OpenSSH_9.2\r\n\r\n", "did not answer with HTTP"],
    ["sends headers without an end", `HTTP/1.1 200 OK\r\nX-A: ${"a".repeat(20_000)}`, "did not answer with HTTP"],
    ["sends more than its answer", "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\nforged", "did not answer with HTTP"],
  ])("fails if the proxy %s", async (_, answer, message) => {
    proxy.reply = (socket) => socket.write(answer);
    const call = get(netWith(), `http://${outside}/`);
    await expect(call).rejects.toMatchObject({ reason: "unreachable" });
    await expect(call).rejects.toThrow(`The egress proxy ${proxy.address} ${message}`);
  });

  it("fails if the proxy disconnects, does not answer or does not run", async () => {
    proxy.reply = (socket) => socket.end("HTTP/1.1 2");
    const named = `The egress proxy ${proxy.address}`;
    await expect(get(netWith(), `http://${outside}/`)).rejects.toThrow(`${named} closed the connection`);
    proxy.reply = () => {};
    const silent = get(netWith({ connectMs: 200 }), `http://${outside}/`);
    await expect(silent).rejects.toMatchObject({ reason: "timeout", message: `${named} did not answer in time` });
    const gone = get(netWith({ egress: { http: "http://me:secret@127.0.0.1:1" } }), `http://${outside}/`);
    await expect(gone).rejects.toMatchObject({
      reason: "unreachable",
      message: "The egress proxy http://127.0.0.1:1 could not be reached",
    });
  });

  it("names the server, not the proxy, if only the server does not answer", async () => {
    proxy.target = await listen(createServer(() => {}));
    const silent = get(netWith({ connectMs: 200 }), `https://${outside}/`);
    await expect(silent).rejects.toMatchObject({ reason: "timeout", message: "The server did not answer in time" });
  });

  it("says that credentials were refused, without showing them", async () => {
    proxy.reply = (socket) => socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const address = proxy.address.replace("//", "//gantry:s3cret@");
    const call = get(netWith({ egress: { https: address } }), `https://${outside}/`);
    await expect(call).rejects.toThrow(
      `The egress proxy ${proxy.address} answered with status 407: it refuses the user or the password in its address`,
    );
    await expect(call).rejects.not.toThrow(/s3cret/);
  });

  it("uses the proxy of the call's scheme, and none for exceptions", async () => {
    const port = await listen(http.createServer((_, response) => response.end("plain")));
    proxy.target = port;
    expect(await get(netWith({ egress: { http: proxy.address } }), `http://${outside}/`)).toBe("plain");
    const forHttps = netWith({ egress: { https: proxy.address } });
    await expect(get(forHttps, `http://${outside}/`)).rejects.toThrow("its name does not exist");
    const excepting = netWith({ egress: { http: proxy.address, except: "invalid" } });
    await expect(get(excepting, `http://${outside}/`)).rejects.toThrow("its name does not exist");
    // An exception is guarded like every direct connection.
    const guarded = netWith({ egress: { http: proxy.address, except: "localhost" } });
    await expect(get(guarded, `http://localhost:${port}/`)).rejects.toBeInstanceOf(AddressRefused);
    expect(proxy.asked).toHaveLength(1);
  });

  it.each(["http", "https"])("speaks TLS with an https proxy, for calls over %s", async (protocol) => {
    const secure = await startProxy(selfSigned);
    closers.push(() => secure.close());
    const answer: http.RequestListener = (_, response) => response.end("through TLS");
    secure.target = await listen(
      protocol === "http" ? http.createServer(answer) : https.createServer(selfSigned, answer),
    );
    const address = secure.address.replace("127.0.0.1", "localhost");
    const egress = { http: address, https: address };
    const net = netWith({ egress, ca: selfSigned.cert });
    expect(await get(net, `${protocol}://${outside}/`)).toBe("through TLS");
    expect(await get(net, `${protocol}://${outside}/`)).toBe("through TLS");
    expect(secure.asked).toHaveLength(1);
    await expect(get(netWith({ egress }), `${protocol}://${outside}/`)).rejects.toThrow(
      `The egress proxy ${address} could not be reached`,
    );
  });

  it("connects directly to listed private addresses, and refuses names that only an internal network has", async () => {
    const port = await listen(http.createServer((_, response) => response.end("inside")));
    const list = (text: string) => [parseNetworkEntry(text)].filter((entry) => entry !== undefined);
    const listed = netWith({ allowPrivateNetwork: list(`127.0.0.1:${port}`) });
    expect(await get(listed, `http://127.0.0.1:${port}/`)).toBe("inside");
    await expect(get(listed, `http://127.0.0.1:${port + 1}/`)).rejects.toBeInstanceOf(AddressRefused);
    for (const host of ["metadata.google.internal", "gpu-box-that-is-not-there", "gpu.lan"]) {
      await expect(get(listed, `http://${host}/`), host).rejects.toThrow(`add ${host}:80 to`);
    }
    expect(proxy.asked).toEqual([]);
    proxy.target = port;
    const named = netWith({ allowPrivateNetwork: list("metadata.google.internal") });
    expect(await get(named, "http://metadata.google.internal/")).toBe("inside");
  });
});
