import { once } from "node:events";
import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { waitFor } from "../../../test/support/wait-for.ts";
import { createNet } from "../net/create-net.ts";
import { createMcpTools } from "./mcp-tools.ts";
import {
  type Exchange,
  echoTool,
  initializeResult,
  json,
  type Script,
  scriptedServer,
  text,
} from "./scripted-server.fixture.ts";
import type { ToolServerTarget } from "./tools.ts";
import { useToolsBench } from "./tools-bench.fixture.ts";

const { bench, opened } = useToolsBench();

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

describe("a server that hangs", () => {
  it("when connecting", async () => {
    const { call } = await bench({ "on initialize": () => {} }, { connectMs: 200 });
    await expect(call()).rejects.toMatchObject({ reason: "timeout", outcome: "not_made" });
  });

  it("after the handshake", async () => {
    const { call } = await bench({ "on notifications/initialized": () => {} }, { connectMs: 200 });
    await expect(call()).rejects.toMatchObject({ reason: "timeout", outcome: "not_made" });
  });

  it("when listing", async () => {
    const { tools, target } = await bench({ "on tools/list": () => {} }, { listMs: 200 });
    await expect(tools.listTools(target)).rejects.toMatchObject({ reason: "timeout" });
  });

  /** Answers a call with a stream that stays open. */
  function openStream(first: (exchange: Exchange) => object): { script: Script; isCut(): boolean } {
    let cut = false;
    const script: Script = {
      "on tools/call": (exchange) => {
        exchange.response.once("close", () => {
          cut = true;
        });
        exchange.send(first(exchange));
      },
    };
    return { script, isCut: () => cut };
  }
  const remark = () => ({ method: "notifications/message", params: { level: "info", data: "working" } });

  it("in a call: the call is cancelled and its stream closed", async () => {
    const { script, isCut } = openStream(remark);
    const { call, count } = await bench(script, { callMs: 200 });
    await expect(call()).rejects.toMatchObject({ reason: "timeout", outcome: "unknown" });
    await waitFor("the cancellation", () => count("notifications/cancelled") === 1);
    await waitFor("the stream to be closed", isCut);
  });

  it("when the caller aborts: the call is cancelled too", async () => {
    const { script, isCut } = openStream(remark);
    const { call, count } = await bench(script);
    const caller = new AbortController();
    const running = call({ signal: caller.signal });
    const refused = expect(running).rejects.toThrow("gone");
    await waitFor("the call", () => count("tools/call") === 1);
    caller.abort(new Error("gone"));
    await refused;
    await waitFor("the cancellation", () => count("notifications/cancelled") === 1);
    await waitFor("the stream to be closed", isCut);
  });

  it("after the answer, with the stream open", async () => {
    const { script, isCut } = openStream(({ message }) => ({ id: message.id, result: text("done") }));
    const { call } = await bench(script);
    expect((await call()).content).toEqual([{ type: "text", text: "done" }]);
    await waitFor("the stream to be closed", isCut);
  });
});

describe("progress", () => {
  const steps = (times: number): Script => ({
    "on tools/call": ({ message, send, response }) => {
      let sent = 0;
      const timer = setInterval(() => {
        if (response.destroyed || sent === times) {
          clearInterval(timer);
          if (!response.destroyed) send({ id: message.id, result: text("done") });
          response.end();
          return;
        }
        const params = { progressToken: message.params._meta.progressToken, progress: ++sent, total: times };
        send({ method: "notifications/progress", params });
      }, 100);
    },
  });

  it("extends the timeout", async () => {
    const { call } = await bench(steps(16), { callMs: 1000 });
    const seen: number[] = [];
    const began = performance.now();
    const result = await call({ onProgress: ({ progress }) => seen.push(progress) });
    expect(result.content).toEqual([{ type: "text", text: "done" }]);
    // 1.6 s, passed on at most four times a second.
    expect(seen.length).toBeGreaterThanOrEqual(2);
    expect(seen.length).toBeLessThanOrEqual(2 + (performance.now() - began) / 250);
  });

  it("extends the timeout only up to a limit", async () => {
    const { call } = await bench(steps(1000), { callMs: 1000, callTotalMs: 2000 });
    const began = Date.now();
    await expect(call()).rejects.toMatchObject({ reason: "timeout", outcome: "unknown" });
    expect(Date.now() - began).toBeLessThan(20_000);
  });
});

describe("a server that lies about sizes", () => {
  const large = { answerBytes: 100_000 };

  it("promises more than it sends", async () => {
    const { call } = await bench({
      "on tools/call": ({ response }) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "5000" });
        response.write("{");
        setTimeout(() => response.destroy(), 50);
      },
    });
    await expect(call()).rejects.toMatchObject({ reason: "cut", outcome: "unknown" });
  });

  it("never ends a JSON answer", async () => {
    const { call } = await bench(
      { "on tools/call": ({ response }) => endless(response, "application/json", "[") },
      large,
    );
    await expect(call()).rejects.toMatchObject({ reason: "too_large", outcome: "unknown" });
  });

  it("never ends an event", async () => {
    const script: Script = { "on tools/call": ({ response }) => endless(response, "text/event-stream", "data: ") };
    const { call } = await bench(script, large);
    await expect(call()).rejects.toMatchObject({ reason: "cut", outcome: "unknown" });
  });

  it("never ends a refusal", async () => {
    const { call } = await bench({
      "on tools/call": ({ response }) => endless(response, "text/plain", "no", 500),
    });
    await expect(call()).rejects.toMatchObject({ reason: "unreachable", status: 500, outcome: "unknown" });
  });

  function endless(response: import("node:http").ServerResponse, type: string, begin: string, status = 200): void {
    response.writeHead(status, { "content-type": type });
    response.write(begin);
    const timer = setInterval(() => {
      if (response.destroyed) clearInterval(timer);
      else response.write("x".repeat(16_384));
    }, 1);
  }
});

describe("a server that answers with garbage", () => {
  const rubbish: [string, Script][] = [
    [
      "a web page",
      { before: (_request, response) => !!response.writeHead(200, { "content-type": "text/html" }).end("<p>") },
    ],
    [
      "malformed JSON",
      { before: (_request, response) => !!response.writeHead(200, { "content-type": "application/json" }).end("{]") },
    ],
    ["other JSON", { "on initialize": ({ response }) => json(response, { hello: true }) }],
    ["an odd result", { "on initialize": ({ answer }) => answer({ protocolVersion: 7 }) }],
    [
      "an unknown version",
      { "on initialize": ({ answer }) => answer({ ...initializeResult, protocolVersion: "1999" }) },
    ],
    [
      "malformed events",
      {
        "on initialize": ({ response }) => {
          response.writeHead(200, { "content-type": "text/event-stream" }).end("data: {]\n\n: x\n\nevent: y\ndata\n\n");
        },
      },
    ],
  ];
  it.each(rubbish)("%s to the handshake", async (_what, script) => {
    const { tools, target } = await bench(script);
    await expect(tools.listTools(target)).rejects.toMatchObject({
      reason: expect.stringMatching(/^(protocol|cut)$/),
      outcome: "not_made",
    });
  });

  it("no HTTP at all", async () => {
    const { server, call } = await bench();
    server.script.before = (request) => !!request.socket.end("NOTHTTP rubbish\r\n\r\n");
    await expect(call()).rejects.toMatchObject({ reason: "cut", outcome: "not_made" });
  });

  it.each([
    ["a text for a result", "no"],
    ["tools that are not a list", { tools: "none" }],
  ])("%s as its tools", async (_what, result) => {
    const { tools, target } = await bench({ "on tools/list": ({ answer }) => answer(result) });
    await expect(tools.listTools(target)).rejects.toMatchObject({ reason: "protocol" });
  });

  it("malformed tools among good ones", async () => {
    const names = ["", "x".repeat(129), "line\nfeed", 7, "good", "good"];
    const odd = [
      ...names.map((name) => ({ ...echoTool, name })),
      null,
      "x",
      { ...echoTool, name: "bare", inputSchema: 3 },
    ];
    const { tools, target } = await bench({ "on tools/list": ({ answer }) => answer({ tools: odd }) });
    const { tools: listed } = await tools.listTools(target);
    expect(listed.map(({ name }) => name)).toEqual(["good", "bare"]);
    expect(listed[1]?.parameters).toEqual({ type: "object" });
  });

  it("schemas that are too deep or too long", async () => {
    const deep = { ...echoTool, name: "deep", inputSchema: JSON.parse(nested(2000)) };
    const long = { ...echoTool, name: "long", inputSchema: { type: "object", title: "x".repeat(70_000) } };
    const described = { ...echoTool, name: "described", description: "x".repeat(20_000) };
    const { tools, target } = await bench({
      "on tools/list": ({ answer }) => answer({ tools: [deep, long, described, echoTool] }),
    });
    const { tools: listed } = await tools.listTools(target);
    expect(listed.map(({ parameters }) => JSON.stringify(parameters))).toEqual(Array(4).fill('{"type":"object"}'));
    expect(listed[2]?.description).toHaveLength(8192);
  });

  it("results nested 100,000 levels deep, requested or not, over both connection types", async () => {
    const deep = nested(100_000);
    const script: Script = {
      "on tools/call": ({ response, message }) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(`data: {"jsonrpc":"2.0","id":999,"result":${deep}}\n\n`);
        response.end(
          `data: {"jsonrpc":"2.0","id":${message.id},"result":{"content":[],"structuredContent":${deep}}}\n\n`,
        );
      },
    };
    const { call } = await bench(script);
    expect((await call()).structured).toBeTypeOf("object");

    const stream = Promise.withResolvers<import("node:http").ServerResponse>();
    const { server, tools, target } = await bench({
      onStream: (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write("event: endpoint\ndata: /post\n\n");
        stream.resolve(response);
      },
      "on initialize": ({ response, message }) => {
        response.writeHead(202).end();
        stream.promise.then((events) => {
          events.write(`data: {"jsonrpc":"2.0","id":${message.id},"result":${JSON.stringify(initializeResult)}}\n\n`);
        });
      },
      "on tools/call": ({ response, message }) => {
        response.writeHead(202).end();
        stream.promise.then((events) => {
          events.write(`data: {"jsonrpc":"2.0","id":999,"result":${deep}}\n\n`);
          events.write(
            `data: {"jsonrpc":"2.0","id":${message.id},"result":{"content":[],"structuredContent":${deep}}}\n\n`,
          );
        });
      },
    });
    const sse: ToolServerTarget = { ...target, url: `${server.origin}/sse`, connectionType: "sse" };
    const result = await tools.callTool(sse, { userId: "one", tool: "deep", arguments: {} });
    expect(result.structured).toBeTypeOf("object");
  });

  it("100,000 content entries", async () => {
    const content = Array.from({ length: 100_000 }, () => ({ type: "text", text: "x" }));
    const { call } = await bench({ "on tools/call": ({ answer }) => answer({ content }) });
    expect((await call()).content).toHaveLength(1000);
  });
});

describe("addresses", () => {
  it.each([301, 302, 303, 307, 308])("a redirect with %i is not followed", async (status) => {
    const inner = await scriptedServer();
    opened.push(inner);
    const { tools, target } = await bench({
      before: (_request, response) => !!response.writeHead(status, { location: inner.url }).end(),
    });
    const signedIn = { ...target, header: { name: "authorization", value: "Bearer secret-token" } };
    await expect(tools.listTools(signedIn)).rejects.toMatchObject({ reason: "unreachable" });
    await expect(tools.listTools({ ...signedIn, connectionType: "sse" })).rejects.toMatchObject({
      reason: "unreachable",
    });
    expect(inner.requests).toEqual([]);
  });

  it("a redirect within the same server is not followed either", async () => {
    const { server, tools, target } = await bench({
      before: (request, response) => request.url === "/mcp" && !!response.writeHead(307, { location: "/other" }).end(),
    });
    await expect(tools.listTools(target)).rejects.toMatchObject({ reason: "unreachable" });
    expect(server.messages).toEqual([]);
  });

  it("an sse endpoint on another server gets no request", async () => {
    const inner = await scriptedServer();
    opened.push(inner);
    const { tools, target } = await bench({
      onStream: (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(`event: endpoint\ndata: ${inner.origin}/message\n\n`);
      },
    });
    const sse: ToolServerTarget = { ...target, connectionType: "sse" };
    await expect(tools.listTools(sse)).rejects.toMatchObject({ reason: "protocol", outcome: "not_made" });
    expect(inner.requests).toEqual([]);
  });

  it.each(["streamable_http", "sse"] as const)("a private address is refused over %s", async (connectionType) => {
    const { server, target } = await bench();
    const guarded = createNet({ allowPrivateNetwork: false });
    const tools = createMcpTools({ net: guarded, version: "1.2.3" });
    opened.push(guarded, tools);
    const wanted: ToolServerTarget = { ...target, connectionType };
    await expect(tools.listTools(wanted)).rejects.toMatchObject({ reason: "address_refused", outcome: "not_made" });
    expect(server.requests).toEqual([]);
  });

  it("an unused port is unreachable", async () => {
    const gone = createServer().listen(0, "127.0.0.1");
    await once(gone, "listening");
    const address = gone.address();
    const port = typeof address === "object" ? address?.port : 0;
    await new Promise((resolve) => gone.close(resolve));
    const { tools, target } = await bench();
    const wanted = { ...target, url: `http://127.0.0.1:${port}/mcp` };
    await expect(tools.listTools(wanted)).rejects.toMatchObject({ reason: "unreachable", outcome: "not_made" });
    const sse = { ...wanted, connectionType: "sse" as const };
    await expect(tools.listTools(sse)).rejects.toMatchObject({ reason: "unreachable", outcome: "not_made" });
  });
});
