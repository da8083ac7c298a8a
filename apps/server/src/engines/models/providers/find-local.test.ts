import { createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNet } from "../../net/create-net.ts";
import type { Net } from "../../net/net.ts";
import { liteLlm } from "../test-upstreams/providers/gpu-servers.ts";
import {
  type ProviderScript,
  type ProviderServer,
  pageReply,
  startProvider,
} from "../test-upstreams/providers/provider-server.ts";
import { llamaCpp, lmStudio, ollama } from "../test-upstreams/providers/self-hosted.ts";
import { findLocal, type LocalType, usualPorts } from "./providers.ts";

describe("findLocal", () => {
  let net: Net;
  const servers: ProviderServer[] = [];
  beforeEach(() => {
    net = createNet({ allowPrivateNetwork: true });
  });
  afterEach(async () => {
    await net.close();
    for (const server of servers.splice(0)) await server.close();
  });

  const start = async (script: ProviderScript) => {
    const server = await startProvider(script);
    servers.push(server);
    return server;
  };
  const portOf = (server: ProviderServer) => Number(new URL(server.url).port);
  const types: LocalType[] = ["ollama", "lmstudio", "llamacpp"];
  const signal = new AbortController().signal;
  /** A port on which nothing listens. */
  const freePort = () =>
    new Promise<number>((resolve) => {
      const server = createServer().listen(0, "127.0.0.1", () => {
        const address = server.address();
        server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
      });
    });

  it("looks at the usual ports", () => {
    expect(usualPorts.map(({ type, port }) => `${type} ${port}`)).toEqual([
      "ollama 11434",
      "lmstudio 1234",
      "llamacpp 8080",
    ]);
  });

  it("finds every kind of server with its models", async () => {
    const scripts = [ollama, lmStudio, llamaCpp];
    const started = await Promise.all(scripts.map(start));
    const ports = types.map((type, n) => ({ type, port: portOf(started[n] as ProviderServer) }));
    const found = await findLocal(net, { signal, ports, timeoutMs: 5000 });
    expect(found.map(({ type, url, models }) => [type, url, models.length])).toEqual([
      ["ollama", started[0]?.url, 4],
      ["lmstudio", started[1]?.url, 3],
      ["llamacpp", started[2]?.url, 1],
    ]);
    expect(found[0]?.models[0]).toMatchObject({ id: "llama3.2:latest", context_window: 131_072, tools: true });
  });

  it.each(types)("does not take another server for %s", async (type) => {
    const others = [ollama, lmStudio, llamaCpp, liteLlm].filter((script) => script.type !== type);
    for (const script of others) {
      const server = await start(script);
      expect(await findLocal(net, { signal, ports: [{ type, port: portOf(server) }], timeoutMs: 5000 })).toEqual([]);
    }
  });

  it("finds nothing where a web server, or nothing, listens", async () => {
    const page = await start(ollama);
    page.always.reply = pageReply;
    const ports = [portOf(page), await freePort()].flatMap((port) => types.map((type) => ({ type, port })));
    expect(await findLocal(net, { signal, ports, timeoutMs: 5000 })).toEqual([]);
  });

  it("does not wait for a server that hangs", async () => {
    const hanging = await start(ollama);
    hanging.always.reply = "hang";
    const lively = await start(lmStudio);
    const began = performance.now();
    const ports = [
      { type: "ollama", port: portOf(hanging) },
      { type: "lmstudio", port: portOf(lively) },
    ] as const;
    expect((await findLocal(net, { signal, ports })).map(({ type }) => type)).toEqual(["lmstudio"]);
    expect(performance.now() - began).toBeLessThan(5000);
  });

  it("lists models without details if those take too long", async () => {
    const never = new Promise<never>(() => {});
    const body = (async function* () {
      yield await never;
    })();
    const show = () => ({ status: 200, headers: {}, body });
    const server = await start({ ...ollama, routes: { ...ollama.routes, "POST /api/show": show } });
    const ports = [{ type: "ollama", port: portOf(server) }] as const;
    const [found] = await findLocal(net, { signal, ports, timeoutMs: 300 });
    expect(found?.models.map(({ id, tools }) => [id, tools])).toContainEqual(["llama3.2:latest", null]);
  });

  it("does not miss a server while the process is busy with other work", async () => {
    const server = await start(ollama);
    const ports = [{ type: "ollama", port: portOf(server) }] as const;
    const work = findLocal(net, { signal, ports, timeoutMs: 400 });
    const busyUntil = performance.now() + 900;
    while (performance.now() < busyUntil);
    const [found] = await work;
    expect(found?.models[0]).toMatchObject({ id: "llama3.2:latest", tools: true });
  });

  it("stops when the caller cancels", async () => {
    const server = await start(ollama);
    server.always.reply = "hang";
    const cancel = new AbortController();
    const ports = [{ type: "ollama", port: portOf(server) }] as const;
    const work = findLocal(net, { signal: cancel.signal, ports, timeoutMs: 5000 });
    await expect.poll(() => server.seen.length).toBe(1);
    cancel.abort(new Error("left"));
    await expect(work).rejects.toThrow("left");
  });
});
