import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { outside, startProxy, type TestProxy } from "./egress-proxy.fixture.ts";
import { createProxiedAgents } from "./proxied-agents.ts";
import { selfSigned } from "./self-signed.fixture.ts";

let proxy: TestProxy;
let closers: (() => unknown)[];

beforeEach(async () => {
  proxy = await startProxy();
  closers = [() => proxy.close()];
});
afterEach(() => {
  for (const close of closers) close();
});

async function listen(server: http.Server | https.Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function agentsOf(address = proxy.address, except?: string) {
  const agents = createProxiedAgents(
    { http: address, https: address, except },
    { keepAlive: true, maxSockets: 4, connectMs: 300 },
  );
  if (!agents) throw new Error("there is a proxy");
  closers.push(() => agents.http.destroy());
  closers.push(() => agents.https.destroy());
  return agents;
}

async function get(url: string, agents = agentsOf()): Promise<string> {
  const { protocol } = new URL(url);
  const request =
    protocol === "https:"
      ? https.get(url, { agent: agents.https, ca: selfSigned.cert })
      : http.get(url, { agent: agents.http });
  const [response] = await once(request, "response");
  return text(response);
}

it("reaches public servers through a tunnel that is reused", async () => {
  const answer: http.RequestListener = (request, response) => response.end(`for ${request.headers.host}`);
  const agents = agentsOf();
  proxy.target = await listen(http.createServer(answer));
  for (const _ of [1, 2]) expect(await get(`http://${outside}/`, agents)).toBe(`for ${outside}`);
  proxy.target = await listen(https.createServer(selfSigned, answer));
  for (const _ of [1, 2]) expect(await get(`https://${outside}/`, agents)).toBe(`for ${outside}`);
  expect(proxy.asked.map(({ target }) => target)).toEqual([`${outside}:80`, `${outside}:443`]);
});

it("sends a large body both ways", async () => {
  proxy.target = await listen(https.createServer(selfSigned, (request, response) => request.pipe(response)));
  const body = Buffer.alloc(5_000_000, "x");
  const request = https.request(`https://${outside}/`, { agent: agentsOf().https, ca: selfSigned.cert, method: "PUT" });
  request.end(body);
  const [response] = await once(request, "response");
  expect((await text(response)).length).toBe(body.length);
});

it("connects directly to private addresses and exceptions", async () => {
  const port = await listen(http.createServer((_, response) => response.end("near")));
  expect(await get(`http://127.0.0.1:${port}/`)).toBe("near");
  expect(await get(`http://localhost:${port}/`)).toBe("near");
  await expect(get(`http://${outside}/`, agentsOf(proxy.address, outside))).rejects.toThrow("ENOTFOUND");
  expect(proxy.asked).toEqual([]);
});

it("fails with the name of the proxy, without its password", async () => {
  proxy.reply = (socket) => socket.end("HTTP/1.1 407 No\r\n\r\n");
  const withPassword = agentsOf(proxy.address.replace("//", "//me:s3cret@"));
  await expect(get(`https://${outside}/`, withPassword)).rejects.toThrow(
    `The egress proxy ${proxy.address} answered with status 407: it refuses the user or the password in its address`,
  );
  proxy.reply = () => {};
  await expect(get(`https://${outside}/`)).rejects.toThrow(`${proxy.address} did not answer in time`);
  await expect(get(`http://${outside}/`, agentsOf("http://127.0.0.1:1"))).rejects.toThrow("could not be reached");
});

it("checks the certificate of the server", async () => {
  proxy.target = await listen(https.createServer(selfSigned, (_, response) => response.end("no")));
  await expect(get("https://other.invalid/")).rejects.toThrow(/other\.invalid/);
});

it("is not needed without a proxy", () => {
  expect(createProxiedAgents({}, { connectMs: 1 })).toBeUndefined();
});
