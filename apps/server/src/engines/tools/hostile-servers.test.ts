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

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

describe("a server that hangs", () => {
  it("when connecting", async () => {
    const { call } = await bench({ "on initialize": () => {} }, { connectMs: 200 });
    await expect(call()).rejects.toMatchObject({ reason: "timeout", outcome: "not_made" });
  });

  it("when told that the handshake is done", async () => {
    const { call } = await bench({ "on notifications/initialized": () => {} }, { connectMs: 200 });
    await expect(call()).rejects.toMatchObject({ reason: "timeout", outcome: "not_made" });
  });

  it("when listing", async () => {
    const { tools, target } = await bench({ "on tools/list": () => {} }, { listMs: 200 });
    await expect(tools.listTools(target)).rejects.toMatchObject({ reason: "timeout" });
  });

  /** Answers a call with a stream that stays open, and tells when the client gave it up. */
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

  it("in a call: it is told, and its stream is given up", async () => {
    const { script, isCut } = openStream(remark);
    const { call, count } = await bench(script, { callMs: 200 });
    await expect(call()).rejects.toMatchObject({ reason: "timeout", outcome: "unknown" });
    await waitFor("the word of cancelling", () => count("notifications/cancelled") === 1);
    await waitFor("the stream to be given up", isCut);
  });

  it("when the caller has gone it is told too", async () => {
    const { script, isCut } = openStream(remark);
    const { call, count } = await bench(script);
    const caller = new AbortController();
    const running = call({ signal: caller.signal });
    const refused = expect(running).rejects.toThrow("gone");
    await waitFor("the call", () => count("tools/call") === 1);
    caller.abort(new Error("gone"));
    await refused;
    await waitFor("the word of cancelling", () => count("notifications/cancelled") === 1);
    await waitFor("the stream to be given up", isCut);
  });

  it("after the answer, with the stream open", async () => {
    const { script, isCut } = openStream(({ message }) => ({ id: message.id, result: text("done") }));
    const { call } = await bench(script);
    expect((await call()).content).toEqual([{ type: "text", text: "done" }]);
    await waitFor("the stream to be given up", isCut);
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

  it("puts the time-out off", async () => {
    const { call } = await bench(steps(16), { callMs: 1000 });
    const seen: number[] = [];
    const began = performance.now();
    const result = await call({ onProgress: ({ progress }) => seen.push(progress) });
    expect(result.content).toEqual([{ type: "text", text: "done" }]);
    // 1.6 s of it, passed on four times a second at most.
    expect(seen.length).toBeGreaterThanOrEqual(2);
    expect(seen.length).toBeLessThanOrEqual(2 + (performance.now() - began) / 250);
  });

  it("but not for ever", async () => {
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

describe("a server that answers rubbish", () => {
  const rubbish: [string, Script][] = [
    [
      "a web page",
      { before: (_request, response) => !!response.writeHead(200, { "content-type": "text/html" }).end("<p>") },
    ],
    [
      "no JSON",
      { before: (_request, response) => !!response.writeHead(200, { "content-type": "application/json" }).end("{]") },
    ],
    ["other JSON", { "on initialize": ({ response }) => json(response, { hello: true }) }],
    ["an odd result", { "on initialize": ({ answer }) => answer({ protocolVersion: 7 }) }],
    [
      "a version nobody knows",
      { "on initialize": ({ answer }) => answer({ ...initializeResult, protocolVersion: "1999" }) },
    ],
    [
      "events of rubbish",
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
    ["a list of no tools", { tools: "none" }],
  ])("%s to the question for its tools", async (_what, result) => {
    const { tools, target } = await bench({ "on tools/list": ({ answer }) => answer(result) });
    await expect(tools.listTools(target)).rejects.toMatchObject({ reason: "protocol" });
  });

  it("odd tools among good ones", async () => {
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

  it("schemas without end, in depth and in length", async () => {
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

  it("results nested 100,000 levels deep, asked for or not, over both kinds of connection", async () => {
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

describe("where it leads", () => {
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

  it("an sse endpoint on another server gets nothing", async () => {
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

  it("nobody there", async () => {
    const gone = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => gone.once("listening", resolve));
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

describe("credentials", () => {
  const demanding: Script = {
    before: (request, response) => {
      if (request.headers.authorization === "Bearer right") return false;
      json(response, { error: "who are you?" }, 401);
      return true;
    },
  };

  it.each(["streamable_http", "sse"] as const)("without them, or with wrong ones, over %s", async (connectionType) => {
    const { tools, target } = await bench(demanding);
    const unauthorized = { reason: "unauthorized", outcome: "not_made" };
    await expect(tools.listTools({ ...target, connectionType })).rejects.toMatchObject(unauthorized);
    const wrong = { ...target, revision: 2, connectionType, header: { name: "authorization", value: "Bearer wrong" } };
    await expect(tools.listTools(wrong)).rejects.toMatchObject(unauthorized);
  });

  it("a server that lets everybody shake hands, and then refuses", async () => {
    const { call } = await bench({ "on tools/call": ({ response }) => json(response, {}, 403) });
    await expect(call()).rejects.toMatchObject({ reason: "unauthorized", status: 403, outcome: "not_made" });
  });

  it("are sent with every request, and change with the revision", async () => {
    const { server, tools, target } = await bench(demanding);
    const right = { ...target, header: { name: "Authorization", value: "Bearer right" } };
    expect((await tools.listTools(right)).tools).toHaveLength(1);
    const other = { ...target, revision: 2, header: { name: "x-api-key", value: "a key" } };
    await expect(tools.listTools(other)).rejects.toMatchObject({ reason: "unauthorized" });
    expect(server.requests.at(-1)?.headers).toMatchObject({ "x-api-key": "a key" });
    expect(server.requests.at(-1)?.headers.authorization).toBeUndefined();
  });
});

describe("lists of tools", () => {
  const page = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({ ...echoTool, name: `tool-${from + at}` }));

  it("are followed to their last page", async () => {
    const { tools, target, count } = await bench({
      "on tools/list": ({ message, answer }) => {
        const from = Number(message.params?.cursor ?? 0);
        answer({ tools: page(from, 10), ...(from < 40 && { nextCursor: String(from + 10) }) });
      },
    });
    const { tools: listed } = await tools.listTools(target);
    expect(listed.map(({ name }) => name)).toEqual(page(0, 50).map(({ name }) => name));
    expect(count("tools/list")).toBe(5);
  });

  it("end where they go round in a circle", async () => {
    const { tools, target } = await bench({
      "on tools/list": ({ message, answer }) =>
        answer({
          tools: page(message.params?.cursor === "b" ? 1 : 0, 1),
          nextCursor: message.params?.cursor === "a" ? "b" : "a",
        }),
    });
    expect((await tools.listTools(target)).tools).toHaveLength(2);
  });

  it("end after a hundred pages, or a thousand tools", async () => {
    let pages = 0;
    const { tools, target } = await bench({
      "on tools/list": ({ answer }) => answer({ tools: page(pages, 1), nextCursor: `page ${++pages}` }),
    });
    expect((await tools.listTools(target)).tools).toHaveLength(100);
    const second = await bench({ "on tools/list": ({ answer }) => answer({ tools: page(0, 5000) }) });
    expect((await second.tools.listTools(second.target)).tools).toHaveLength(1000);
  });

  it("are believed for a while, and read again when the server says that they changed", async () => {
    let offered = 1;
    let stream: import("node:http").ServerResponse | undefined;
    const { tools, target, count } = await bench({
      "on tools/list": ({ answer }) => answer({ tools: page(0, offered) }),
      onStream: (_request, response) => {
        stream = response.writeHead(200, { "content-type": "text/event-stream" });
        stream.flushHeaders();
      },
    });
    expect((await tools.listTools(target)).tools).toHaveLength(1);
    offered = 2;
    expect((await tools.listTools(target)).tools).toHaveLength(1);
    expect(count("tools/list")).toBe(1);
    await waitFor("the stream", () => stream !== undefined);
    stream?.write('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n');
    await waitFor("the change to be noticed", async () => (await tools.listTools(target)).tools.length === 2);
    offered = 3;
    expect((await tools.listTools(target, { fresh: true })).tools).toHaveLength(3);
  });

  it("are read again after a while when the server says nothing", async () => {
    let offered = 1;
    const { tools, target } = await bench(
      { "on tools/list": ({ answer }) => answer({ tools: page(0, offered) }) },
      { listTtlMs: 100 },
    );
    expect((await tools.listTools(target)).tools).toHaveLength(1);
    offered = 2;
    await sleep(150);
    expect((await tools.listTools(target)).tools).toHaveLength(2);
  });

  it("of a server without tools are empty", async () => {
    const { tools, target, count } = await bench({
      "on initialize": ({ answer }) => answer({ ...initializeResult, capabilities: {} }),
    });
    expect((await tools.listTools(target)).tools).toEqual([]);
    expect(count("tools/list")).toBe(0);
  });

  it("carry what tools say of themselves", async () => {
    const hinted = (name: string, annotations: object) => ({ ...echoTool, name, annotations });
    const listed = [
      hinted("reads", { readOnlyHint: true, destructiveHint: true }),
      hinted("destroys", { destructiveHint: true }),
      hinted("adds", { destructiveHint: false }),
      hinted("silent", {}),
    ];
    const { tools, target } = await bench({ "on tools/list": ({ answer }) => answer({ tools: listed }) });
    expect((await tools.listTools(target)).tools.map((tool) => [tool.name, tool.readOnly, tool.destructive])).toEqual([
      ["reads", true, false],
      ["destroys", false, true],
      ["adds", false, false],
      ["silent", false, false],
    ]);
  });
});

describe("sessions and connections", () => {
  const withSessions = (lose: { next: boolean; always?: boolean }, status = 404): Script => {
    let sessions = 0;
    return {
      "on initialize": ({ response, message }) => {
        response.setHeader("mcp-session-id", `session-${++sessions}`);
        json(response, { jsonrpc: "2.0", id: message.id, result: initializeResult });
      },
      "on tools/call": ({ response, answer, request }) => {
        if (!lose.next && !lose.always) return answer(text(String(request.headers["mcp-session-id"])));
        lose.next = false;
        json(
          response,
          { jsonrpc: "2.0", error: { code: -32000, message: "Bad Request: No valid session ID" } },
          status,
        );
      },
    };
  };

  it.each([404, 400])("a lost session (%i) is opened anew, and the call made once more", async (status) => {
    const lose = { next: false };
    const { call, count } = await bench(withSessions(lose, status));
    expect((await call()).content).toEqual([{ type: "text", text: "session-1" }]);
    lose.next = true;
    expect((await call()).content).toEqual([{ type: "text", text: "session-2" }]);
    expect([count("initialize"), count("tools/call")]).toEqual([2, 3]);
  });

  it("but once only", async () => {
    const { call, count } = await bench(withSessions({ next: false, always: true }));
    await expect(call()).rejects.toMatchObject({ reason: "unreachable", status: 404, outcome: "not_made" });
    expect([count("initialize"), count("tools/call")]).toEqual([2, 2]);
  });

  it("any other 400 is no lost session", async () => {
    const { call, count } = await bench({ "on tools/call": ({ response }) => json(response, { error: "no" }, 400) });
    await expect(call()).rejects.toMatchObject({ reason: "refused", status: 400 });
    expect(count("tools/call")).toBe(1);
  });

  it.each<[string, Script]>([
    ["before the answer", { "on tools/call": ({ response }) => void response.destroy() }],
    [
      "in the answer",
      {
        "on tools/call": ({ send, response }) => {
          send({ method: "notifications/message" });
          setTimeout(() => response.destroy(), 50);
        },
      },
    ],
    [
      "by ending the stream without an answer",
      {
        "on tools/call": ({ send, response }) => {
          send({ method: "notifications/message" });
          response.end();
        },
      },
    ],
  ])("a call that breaks off %s is not made again", async (_when, script) => {
    const { call, count } = await bench(script);
    await expect(call()).rejects.toMatchObject({ reason: "cut", outcome: "unknown" });
    await sleep(100);
    expect(count("tools/call")).toBe(1);
  });

  it("calls share one connection, which is closed with a word when idle", async () => {
    const { server, call, count } = await bench(withSessions({ next: false }), { idleMs: 150 });
    for (let n = 0; n < 5; n++) await call();
    expect(count("initialize")).toBe(1);
    await waitFor("the good-bye", () => server.requests.some(({ method }) => method === "DELETE"));
    await call();
    expect(count("initialize")).toBe(2);
  });

  it("a connection that has grown old is replaced", async () => {
    const { call, count } = await bench(withSessions({ next: false }), { ageMs: 50 });
    await call();
    await sleep(80);
    await call();
    expect(count("initialize")).toBe(2);
  });

  it("a few calls run side by side, the others wait, and too many are refused", async () => {
    let [running, most] = [0, 0];
    const { call } = await bench(
      {
        "on tools/call": ({ answer }) => {
          most = Math.max(most, ++running);
          setTimeout(() => {
            running -= 1;
            answer(text("done"));
          }, 50);
        },
      },
      { parallel: 3, waiting: 8 },
    );
    const ended = await Promise.allSettled(Array.from({ length: 14 }, () => call()));
    expect(most).toBe(3);
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(11);
    const refused = ended.filter((one) => one.status === "rejected");
    expect(refused.map(({ reason }) => reason)).toEqual(
      Array(3).fill(expect.objectContaining({ reason: "busy", outcome: "not_made" })),
    );
  });

  it("calls of one user that wait do not put another user's behind them", async () => {
    const held: (() => void)[] = [];
    const { call } = await bench(
      { "on tools/call": ({ answer }) => held.push(() => answer(text("done"))) },
      { parallel: 1, waiting: 3 },
    );
    const ended: string[] = [];
    const by = (userId: string) => call({ userId }).then(() => ended.push(userId));
    const all = [by("crowd")];
    await waitFor("the first call", () => held.length === 1);
    all.push(by("crowd"), by("crowd"), by("crowd"), by("other"));
    // Three of one user may wait, whoever else does.
    await expect(by("crowd")).rejects.toMatchObject({ reason: "busy" });
    for (let n = 0; n < all.length; n++) {
      await waitFor("the next call", () => held.length === 1);
      held.shift()?.();
      await waitFor("its end", () => ended.length === n + 1);
    }
    await Promise.all(all);
    expect(ended).toEqual(["crowd", "crowd", "other", "crowd", "crowd"]);
  });

  it("who leaves while waiting gives the place up", async () => {
    const held: (() => void)[] = [];
    const { call } = await bench(
      { "on tools/call": ({ answer }) => held.push(() => answer(text("done"))) },
      { parallel: 1 },
    );
    const first = call();
    await waitFor("the first call", () => held.length === 1);
    const caller = new AbortController();
    const second = call({ signal: caller.signal });
    const third = call();
    caller.abort(new Error("gone"));
    await expect(second).rejects.toThrow("gone");
    held.shift()?.();
    await first;
    await waitFor("the third call", () => held.length === 1);
    held.shift()?.();
    await third;
  });

  it("a stream that the server keeps ending is not opened in a hurry", async () => {
    const { server, call } = await bench({
      onStream: (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).end("retry: 0\nid: 1\ndata:\n\n");
      },
      "on tools/call": ({ answer }) => answer(text("done")),
    });
    await call();
    await sleep(1500);
    expect(server.requests.filter(({ method }) => method === "GET").length).toBeLessThanOrEqual(3);
  });

  it("a server that floods us with requests is left", async () => {
    const { server, call } = await bench({
      "on tools/call": ({ send }) => {
        for (let id = 0; id < 5000; id++) send({ id: `ping-${id}`, method: "ping" });
      },
    });
    await expect(call()).rejects.toMatchObject({ reason: "too_large", outcome: "unknown" });
    await sleep(200);
    expect(server.messages.filter(({ id }) => String(id).startsWith("ping-")).length).toBeLessThanOrEqual(100);
  });

  it("a server that asks for more than a ping is told that there is nothing", async () => {
    const { server, call } = await bench({
      "on tools/call": ({ send, message, response }) => {
        send({ id: "q1", method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } });
        send({ id: "q2", method: "roots/list" });
        setTimeout(() => {
          send({ id: message.id, result: text("done") });
          response.end();
        }, 200);
      },
    });
    expect((await call()).content).toEqual([{ type: "text", text: "done" }]);
    const answers = server.messages.filter(({ id }) => id === "q1" || id === "q2");
    expect(answers).toHaveLength(2);
    expect(JSON.stringify(answers)).toContain("Method not found");
  });

  it("an error that the server answers with is a result", async () => {
    const { call } = await bench();
    expect(await call()).toEqual({
      content: [{ type: "text", text: "Method not found" }],
      structured: undefined,
      isError: true,
    });
  });
});
