import { newId } from "@gantry/wire";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { testDatabase } from "../../../../test/support/database.ts";
import { waitFor } from "../../../../test/support/wait-for.ts";
import { echoTool, type Script, text } from "../../../engines/tools/scripted-server.fixture.ts";
import { type ToolServersUnderTest, toolServersUnderTest } from "../../tool-servers/tool-servers.fixture.ts";
import { callerNamed, execute, scopeOf } from "./run-scope.fixture.ts";
import { serverTools } from "./server-tools.ts";

let t: ToolServersUnderTest;
let drop: () => Promise<void>;
const [ownerId, otherId] = [newId("user"), newId("user")];
let names = 0;

beforeAll(async () => {
  const { database, ...own } = await testDatabase();
  drop = own.drop;
  for (const [id, username] of [
    [ownerId, "ann"],
    [otherId, "bob"],
  ] as const) {
    await database.sql`
      insert into users (id, username, role, plan, created_at) values (${id}, ${username}, 'user', 'free', now())`;
  }
  t = toolServersUnderTest(database, { callMs: 2000, idleMs: 500 });
});
afterEach(() => t.clear());
afterAll(async () => {
  await t.close();
  await drop();
});

async function register(script: Script = {}) {
  const server = await t.serve(script);
  const name = `server-${++names}`;
  const { id } = await t.toolServers.register(ownerId, { name, url: server.url, connection_type: "streamable_http" });
  return { server, id, name };
}

const { signal } = new AbortController();
const toolsOf = (servers: { id: string; tools?: string[] }[], more: Parameters<typeof scopeOf>[1] = {}) =>
  serverTools(t.toolServers, scopeOf(ownerId, { ...more, snapshot: { mcp_servers: servers } }), {
    taken: new Set(),
    signal,
  });

describe("the tools of an agent's servers", () => {
  test("are prefixed with the server's name and called by the server's own", async () => {
    const { server, id, name } = await register({ "on tools/call": ({ answer }) => answer(text("hello")) });
    const { tools, missing } = await toolsOf([{ id }]);
    expect(missing).toEqual([]);
    expect(tools.map((tool) => tool.name)).toEqual([`${name}__echo`]);
    const [tool] = tools;
    if (!tool) throw new Error("no tool");
    expect(await execute(tool, { a: 1 })).toEqual({ text: "hello", isError: false });
    const [sent] = server.messages.filter(({ method }) => method === "tools/call");
    expect(sent?.params).toMatchObject({ name: "echo", arguments: { a: 1 } });
  });

  test("read-only tools are reads, destructive ones need a confirmation", async () => {
    const list = [
      { ...echoTool, name: "look", annotations: { readOnlyHint: true } },
      { ...echoTool, name: "drop", annotations: { destructiveHint: true } },
      { ...echoTool, name: "add" },
    ];
    const { id } = await register({ "on tools/list": ({ answer }) => answer({ tools: list }) });
    const { tools } = await toolsOf([{ id }]);
    expect(tools.map(({ kind, asks }) => [kind, asks])).toEqual([
      ["read", false],
      ["write", true],
      ["write", false],
    ]);
  });

  test("an approval is valid for a server at its address, under any name", async () => {
    const [one, other] = [await register(), await register()];
    const targetsOf = async () => {
      const { tools } = await toolsOf([{ id: one.id }, { id: other.id }]);
      return Promise.all(tools.map((tool) => tool.target?.({})));
    };
    const [before, beside] = await targetsOf();
    expect(before).not.toBe(beside);
    await t.toolServers.change(ownerId, one.id, { name: `${one.name}-renamed` });
    expect(await targetsOf()).toEqual([before, beside]);
    // The same address does not make it the same server.
    await t.toolServers.change(ownerId, one.id, { url: other.server.url });
    const [moved] = await targetsOf();
    expect([before, beside]).not.toContain(moved);
    await t.toolServers.remove(ownerId, one.id, { force: true });
    expect((await toolsOf([{ id: one.id }])).tools).toEqual([]);
  });

  test("another user's run uses the creator's servers", async () => {
    const { id } = await register({ "on tools/call": ({ answer }) => answer(text("hello")) });
    const { tools } = await toolsOf([{ id }], { userId: otherId, caller: callerNamed(otherId) });
    expect(tools).toHaveLength(1);
    for (const tool of tools) expect(await execute(tool, {})).toEqual({ text: "hello", isError: false });
    // But not the caller's own servers.
    const { missing } = await toolsOf([{ id }], { ownerId: otherId });
    expect(missing).toEqual([{ serverId: id, serverName: undefined, reason: "The server was deleted" }]);
  });

  test("missing tools are listed, the others work", async () => {
    const [up, down] = [await register(), await register()];
    down.server.script = { before: (_request, response) => !!response.writeHead(503).end() };
    const { tools, missing } = await toolsOf([
      { id: up.id, tools: ["echo", "gone"] },
      { id: down.id },
      { id: newId("mcpServer") },
    ]);
    expect(tools.map((tool) => tool.name)).toEqual([`${up.name}__echo`]);
    expect(missing).toEqual([
      { serverId: up.id, serverName: up.name, tool: "gone", reason: "The server has no such tool" },
      { serverId: down.id, serverName: down.name, reason: expect.stringContaining("503") },
      { serverId: expect.any(String), serverName: undefined, reason: "The server was deleted" },
    ]);
  });
});

describe("a call that fails", () => {
  test("in the tool, in the server, or because the server was removed", async () => {
    const { server, id } = await register({
      "on tools/call": ({ answer }) => answer({ ...text("no"), isError: true }),
    });
    const { tools } = await toolsOf([{ id }]);
    const [tool] = tools;
    if (!tool) throw new Error("no tool");
    expect(await execute(tool, {})).toEqual({ text: "no", isError: true });
    server.script = { before: (_request, response) => !!response.writeHead(503).end() };
    expect(await execute(tool, {})).toMatchObject({ isError: true, text: expect.stringMatching(/status 503/) });
    await t.toolServers.remove(ownerId, id, { force: true });
    expect(await execute(tool, {})).toEqual({ text: "Tool server not found", isError: true });
  });

  test("an abort rejects with its reason and reaches the server", async () => {
    const { server, id } = await register({ "on tools/call": () => {} });
    const { tools } = await toolsOf([{ id }]);
    const [tool] = tools;
    if (!tool) throw new Error("no tool");
    const controller = new AbortController();
    const call = execute(tool, {}, controller.signal);
    await waitFor("the server to hear it", () => server.messages.some(({ method }) => method === "tools/call"));
    controller.abort(new Error("cancelled"));
    await expect(call).rejects.toThrow("cancelled");
    await waitFor("the server to hear it", () =>
      server.messages.some(({ method }) => method === "notifications/cancelled"),
    );
  });
});
