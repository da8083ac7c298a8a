import { describe, expect, it } from "vitest";
import { waitFor } from "../../../test/support/wait-for.ts";
import { echoTool, initializeResult, json, text } from "./scripted-server.fixture.ts";
import type { ToolServerTarget } from "./tools.ts";
import { useToolsBench } from "./tools-bench.fixture.ts";

const { bench } = useToolsBench();

describe("while slow calls use all slots of a server", () => {
  it("its tools are listed, cached and fresh", async () => {
    const held: (() => void)[] = [];
    const { call, tools, target, count } = await bench(
      { "on tools/call": ({ answer }) => held.push(() => answer(text("done"))) },
      { parallel: 2 },
    );
    const slow = [call(), call()];
    await waitFor("the calls", () => held.length === 2);
    expect((await tools.listTools(target)).tools).toHaveLength(1);
    expect((await tools.listTools(target)).tools).toHaveLength(1);
    expect(count("tools/list")).toBe(1);
    expect((await tools.listTools(target, { fresh: true })).tools).toHaveLength(1);
    for (const answer of held) answer();
    await Promise.all(slow);
  });

  it("concurrent fresh lists share one request", async () => {
    const { tools, target, count } = await bench({
      "on tools/list": ({ answer }) => setTimeout(() => answer({ tools: [echoTool] }), 100),
    });
    await Promise.all(Array.from({ length: 10 }, () => tools.listTools(target, { fresh: true })));
    expect(count("tools/list")).toBe(1);
  });
});

describe("a call refused by its status", () => {
  const error = { code: -32_602, message: "Invalid params: the field city is missing" };

  it.each([400, 422, 429])("with a JSON-RPC error (%i) is a result", async (status) => {
    const { call, count } = await bench({
      "on tools/call": ({ response, message }) => json(response, { jsonrpc: "2.0", id: message.id, error }, status),
    });
    expect(await call()).toMatchObject({ content: [{ type: "text", text: error.message }], isError: true });
    expect(count("tools/call")).toBe(1);
  });

  it.each([
    [400, -32602, "Argument session_type must be one of a, b", "session"],
    [400, -32000, "The obsession tool is away", undefined],
    [404, -32602, "Unknown tool: echo", undefined],
    [404, -32001, "Resource 42 not found", undefined],
  ])(
    "a %i with the code %i (%s) is the answer to the call, not a lost session",
    async (status, code, message, session) => {
      const { call, count } = await bench({
        "on initialize": ({ response, message: { id } }) => {
          if (session !== undefined) response.setHeader("mcp-session-id", session);
          json(response, { jsonrpc: "2.0", id, result: initializeResult });
        },
        "on tools/call": ({ response, message: { id } }) =>
          json(response, { jsonrpc: "2.0", id, error: { code, message } }, status),
      });
      expect(await call()).toMatchObject({ isError: true, content: [{ type: "text", text: message }] });
      expect(count("tools/call")).toBe(1);
    },
  );

  it.each([
    [429, "slow\ndown", "refused", "The server answers with status 429: slow down"],
    [400, "<html>no</html>", "refused", "The server answers with status 400"],
    [
      500,
      JSON.stringify({ jsonrpc: "2.0", error }),
      "unreachable",
      `The server answers with status 500: ${error.message}`,
    ],
  ])("%i with the text %j is quoted", async (status, body, reason, message) => {
    const { call } = await bench({ "on tools/call": ({ response }) => response.writeHead(status).end(body) });
    await expect(call()).rejects.toMatchObject({ reason, status, message });
  });
});

describe("an unfinished result", () => {
  it.each([
    [{ resultType: "input_required", inputRequests: {} }, /asks for more input/],
    [{ resultType: "input_required", requestState: "x" }, /asks for more input/],
    [{ task: { taskId: "t1", status: "working" } }, /started a task/],
  ])("%j is a failure", async (result, message) => {
    const { call } = await bench({ "on tools/call": ({ answer }) => answer(result) });
    expect(await call()).toMatchObject({
      isError: true,
      content: [{ type: "text", text: expect.stringMatching(message) }],
    });
  });

  it("a complete result is accepted", async () => {
    const { call } = await bench({
      "on tools/call": ({ answer }) => answer({ ...text("done"), resultType: "complete", task: { taskId: "t1" } }),
    });
    expect(await call()).toMatchObject({ isError: false, content: [{ text: "done" }] });
  });
});

describe("a list of tools", () => {
  it("names tools that can only be called as a task", async () => {
    const taskOnly = { ...echoTool, name: "slow", execution: { taskSupport: "required" } };
    const optional = { ...echoTool, name: "either", execution: { taskSupport: "optional" } };
    const { tools, target } = await bench({
      "on tools/list": ({ answer }) =>
        // The first entry of a name wins.
        answer({ tools: [echoTool, taskOnly, optional, { ...echoTool, name: "slow" }, { ...taskOnly, name: "echo" }] }),
    });
    expect(await tools.listTools(target)).toMatchObject({
      tools: [{ name: "echo" }, { name: "either" }],
      unusable: [{ name: "slow", reason: expect.stringContaining("task") }],
      isCut: false,
    });
  });

  it("shows that it is cut", async () => {
    const many = Array.from({ length: 1001 }, (_, n) => ({ ...echoTool, name: `t${n}` }));
    const { tools, target } = await bench({ "on tools/list": ({ answer }) => answer({ tools: many }) });
    const list = await tools.listTools(target);
    expect([list.tools.length, list.isCut]).toEqual([1000, true]);
  });
});

describe("errors contain advice for the owner of the server", () => {
  it.each(["streamable_http", "sse"] as const)("if credentials are missing, over %s", async (connectionType) => {
    const { tools, target } = await bench({ before: (_request, response) => !!response.writeHead(401).end() });
    await expect(tools.listTools({ ...target, connectionType })).rejects.toMatchObject({
      reason: "unauthorized",
      message: expect.stringMatching(/requires credentials \(status 401\).*oauth/),
    });
    const header = { name: "authorization", value: "Bearer wrong" };
    await expect(tools.listTools({ ...target, connectionType, revision: 2, header })).rejects.toMatchObject({
      message: "The server refuses the credentials (status 401)",
    });
  });

  it("if it redirects", async () => {
    const { tools, target } = await bench({
      before: (_request, response) => !!response.writeHead(308, { location: "https://new.example/mcp" }).end(),
    });
    await expect(tools.listTools(target)).rejects.toThrow("redirects to https://new.example/mcp (status 308)");
  });

  it("if it uses another version", async () => {
    const { tools, target } = await bench({
      "on initialize": ({ answer }) => answer({ ...initializeResult, protocolVersion: "2099-01-01" }),
    });
    await expect(tools.listTools(target)).rejects.toMatchObject({
      reason: "protocol",
      message: "The server uses version 2099-01-01 of the protocol, which is not supported",
    });
  });

  it("if it has the other connection type", async () => {
    const { tools, target } = await bench();
    const sse: ToolServerTarget = { ...target, connectionType: "sse" };
    await expect(tools.listTools(sse)).rejects.toThrow("status 405. Try the connection_type streamable_http");
  });
});
