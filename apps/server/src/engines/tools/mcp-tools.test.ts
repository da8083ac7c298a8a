import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { waitFor } from "../../../test/support/wait-for.ts";
import { createNet } from "../net/create-net.ts";
import type { Net } from "../net/net.ts";
import { type EverythingServer, everythingServer } from "./everything-server.fixture.ts";
import { createMcpTools } from "./mcp-tools.ts";
import { type ToolProgress, type ToolServerClients, ToolServerError, type ToolServerTarget } from "./tools.ts";

describe.each(["streamable_http", "sse"] as const)("the everything server over %s", (connectionType) => {
  let server: EverythingServer;
  let net: Net;
  let tools: ToolServerClients;
  let target: ToolServerTarget;

  beforeAll(async () => {
    server = await everythingServer(connectionType);
    target = { id: "mcp_1", revision: 1, url: server.url, connectionType };
  });
  afterAll(() => server.kill());
  beforeEach(() => {
    net = createNet({ allowPrivateNetwork: true });
    tools = createMcpTools({ net, version: "1.2.3" });
  });
  afterEach(async () => {
    await tools.close();
    await net.close();
  });

  const call = (tool: string, given: Record<string, unknown> = {}, more = {}) =>
    tools.callTool(target, { userId: "one", tool, arguments: given, ...more });

  it("lists its tools with their schemas and hints", async () => {
    const { tools: listed } = await tools.listTools(target);
    expect(listed.length).toBeGreaterThanOrEqual(12);
    const sum = listed.find(({ name }) => name === "get-sum");
    expect(sum).toMatchObject({
      description: expect.stringMatching(/sum/i),
      parameters: { type: "object", properties: { a: { type: "number" } }, required: ["a", "b"] },
    });
  });

  it("calls: text, structure, images, resources, links, errors", async () => {
    expect(await call("echo", { message: "hello" })).toMatchObject({
      content: [{ type: "text", text: "Echo: hello" }],
      isError: false,
    });
    expect((await call("get-structured-content", { location: "New York" })).structured).toMatchObject({
      temperature: expect.any(Number),
    });
    const pictures = (await call("get-tiny-image")).content;
    expect(pictures).toContainEqual({ type: "image", mimeType: "image/png", bytes: expect.any(Number) });
    const resource = await call("get-resource-reference", { resourceType: "Text", resourceId: 1 });
    expect(resource.content).toContainEqual(expect.objectContaining({ type: "resource", uri: expect.any(String) }));
    const blob = await call("get-resource-reference", { resourceType: "Blob", resourceId: 1 });
    expect(blob.content).toContainEqual(expect.objectContaining({ type: "blob", bytes: expect.any(Number) }));
    const links = await call("get-resource-links", { count: 2 });
    expect(links.content.filter(({ type }) => type === "link")).toHaveLength(2);
    const wrong = await call("get-sum", { a: "one" });
    expect(wrong.isError).toBe(true);
    expect((await call("no-such-tool")).isError).toBe(true);
  });

  it("passes progress on", async () => {
    const seen: ToolProgress[] = [];
    const onProgress = (progress: ToolProgress) => seen.push(progress);
    const result = await call("trigger-long-running-operation", { duration: 1.5, steps: 3 }, { onProgress });
    expect(result.content[0]).toMatchObject({ text: expect.stringContaining("completed") });
    expect(seen.length).toBeGreaterThanOrEqual(2);
    expect(seen[0]).toMatchObject({ progress: 1, total: 3 });
  });

  it("stops when the caller aborts", async () => {
    const caller = new AbortController();
    const onProgress = () => caller.abort(new Error("gone"));
    const began = Date.now();
    const given = { duration: 30, steps: 60 };
    await expect(call("trigger-long-running-operation", given, { signal: caller.signal, onProgress })).rejects.toThrow(
      "gone",
    );
    expect(Date.now() - began).toBeLessThan(10_000);
    expect((await call("echo", { message: "still here" })).isError).toBe(false);
  });

  it("opens a new session after the server was restarted", async () => {
    expect((await call("echo", { message: "one" })).isError).toBe(false);
    await server.kill();
    await expect(call("echo", { message: "two" })).rejects.toMatchObject({ reason: expect.any(String) });
    await server.start();
    expect((await call("echo", { message: "three" })).content[0]).toMatchObject({ text: "Echo: three" });
    await server.kill();
    await server.start();
    expect((await call("echo", { message: "four" })).content[0]).toMatchObject({ text: "Echo: four" });
    expect((await tools.listTools(target)).tools.length).toBeGreaterThan(5);
  });

  it("fails soon if the server dies during a call, and does not repeat it", async () => {
    const running = Promise.withResolvers<void>();
    const given = { duration: 30, steps: 60 };
    const operation = call("trigger-long-running-operation", given, { onProgress: () => running.resolve() });
    const failed = operation.catch((error: unknown) => error);
    await running.promise;
    await server.kill();
    const began = Date.now();
    const error = await failed;
    expect(error).toBeInstanceOf(ToolServerError);
    expect(error).toMatchObject({ reason: "cut", outcome: "unknown" });
    expect(Date.now() - began).toBeLessThan(10_000);
    await server.start();
    await waitFor("the server to serve again", async () => (await call("echo", { message: "x" })).isError === false);
  });
});
