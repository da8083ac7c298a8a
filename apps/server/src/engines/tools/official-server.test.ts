import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { createMcpHandler, type McpHttpHandler, McpServer } from "@modelcontextprotocol/server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { waitFor } from "../../../test/support/wait-for.ts";
import { createNet } from "../net/create-net.ts";
import type { Net } from "../net/net.ts";
import { createMcpTools } from "./mcp-tools.ts";
import type { ToolServerClients, ToolServerTarget } from "./tools.ts";

/** Servers of the official library: one without sessions, and one with only the later revisions of the protocol. */
describe.each(["stateless", "reject"] as const)("a server of the official library, older clients: %s", (legacy) => {
  let http: Server;
  let handler: McpHttpHandler;
  let net: Net;
  let tools: ToolServerClients;
  let target: ToolServerTarget;
  let waits = false;
  let cancelled = false;
  let extraTool = false;

  beforeEach(async () => {
    [waits, cancelled, extraTool] = [false, false, false];
    handler = createMcpHandler(build, { legacy });
    http = createServer(async (request, response) => {
      const stop = new AbortController();
      response.once("close", () => stop.abort());
      const answer = await handler.fetch(
        new Request(`http://${request.headers.host}${request.url}`, {
          method: request.method ?? "GET",
          headers: request.headers as Record<string, string>,
          signal: stop.signal,
          ...(request.method === "POST" && { body: Readable.toWeb(request) as ReadableStream, duplex: "half" }),
        }),
      );
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (!answer.body) return response.end();
      response.flushHeaders();
      Readable.fromWeb(answer.body as import("node:stream/web").ReadableStream)
        .on("error", () => {})
        .pipe(response);
    }).listen(0, "127.0.0.1");
    await once(http, "listening");
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
    target = { id: "mcp_1", revision: 1, url, connectionType: "streamable_http" };
    net = createNet({ allowPrivateNetwork: true });
    tools = createMcpTools({ net, version: "1.2.3" });
  });
  afterEach(async () => {
    await tools.close();
    await net.close();
    await handler.close();
    http.closeAllConnections();
    http.close();
  });

  function build(): McpServer {
    const server = new McpServer(
      { name: "official", version: "1" },
      { capabilities: { tools: { listChanged: true } } },
    );
    server.registerTool(
      "add",
      {
        description: "Adds.",
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        annotations: { readOnlyHint: true },
      },
      ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }),
    );
    server.registerTool("wait", { description: "Waits." }, async (ctx) => {
      const { signal } = ctx.mcpReq;
      waits = true;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      cancelled = true;
      return { content: [] };
    });
    if (extraTool) server.registerTool("extra", { description: "New." }, () => ({ content: [] }));
    return server;
  }

  it("lists and calls with one handshake", async () => {
    const { tools: listed } = await tools.listTools(target);
    expect(listed).toMatchObject([
      { name: "add", readOnly: true, parameters: { type: "object", required: ["a", "b"] } },
      { name: "wait", readOnly: false },
    ]);
    const result = await tools.callTool(target, { userId: "one", tool: "add", arguments: { a: 2, b: 3 } });
    expect(result).toMatchObject({ content: [{ type: "text", text: "5" }], isError: false });
    const wrong = await tools.callTool(target, { userId: "one", tool: "add", arguments: { a: "two" } });
    expect(wrong.isError).toBe(true);
  });

  it("stops when the caller aborts", async () => {
    const caller = new AbortController();
    const running = tools.callTool(target, { userId: "one", tool: "wait", arguments: {}, signal: caller.signal });
    const refused = expect(running).rejects.toThrow("gone");
    await waitFor("the tool to run", () => waits);
    caller.abort(new Error("gone"));
    await refused;
    await waitFor("the tool to stop", () => cancelled);
  });

  if (legacy === "reject") {
    it("sees changed tools", async () => {
      expect((await tools.listTools(target)).tools).toHaveLength(2);
      extraTool = true;
      expect((await tools.listTools(target)).tools).toHaveLength(2);
      handler.notify.toolsChanged();
      await waitFor("the change to be noticed", async () => (await tools.listTools(target)).tools.length === 3);
    });
  }
});
