import { newId } from "@gantry/wire";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { echoTool, json, type Script, text } from "../../engines/tools/scripted-server.fixture.ts";
import { type ToolServersUnderTest, toolServersUnderTest } from "./tool-servers.fixture.ts";

let t: ToolServersUnderTest;
let database: Awaited<ReturnType<typeof testDatabase>>["database"];
let drop: () => Promise<void>;
const ownerId = newId("user");
const otherId = newId("user");
let names = 0;

beforeAll(async () => {
  ({ database, drop } = await testDatabase());
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

async function register(script: Script = {}, auth?: { type: "bearer"; token: string }) {
  const server = await t.serve(script);
  const name = `server-${++names}`;
  const made = await t.toolServers.register(ownerId, {
    name,
    url: server.url,
    connection_type: "streamable_http",
    ...(auth && { auth }),
  });
  const call = (more: Partial<Parameters<typeof t.toolServers.callTool>[0]> = {}) =>
    t.toolServers.callTool({ ownerId, userId: ownerId, serverId: made.id, tool: "echo", arguments: { a: 1 }, ...more });
  return { server, made, name, call };
}

const statusOf = async (id: string) => {
  const { status, lastError } = await t.toolServers.read(ownerId, id);
  return { status, lastError };
};

describe("calling a tool", () => {
  it("returns text for the model", async () => {
    const { server, call } = await register({ "on tools/call": ({ answer }) => answer(text("hello")) });
    expect(await call()).toEqual({ text: "hello", isError: false, truncated: false });
    const [sent] = server.messages.filter(({ method }) => method === "tools/call");
    expect(sent?.params).toMatchObject({ name: "echo", arguments: { a: 1 } });
    const [hello] = server.messages.filter(({ method }) => method === "initialize");
    expect(hello?.params).toMatchObject({ clientInfo: { name: "gantry", version: "1.2.3" } });
  });

  it("reports a failure of the tool", async () => {
    const { call } = await register({ "on tools/call": ({ answer }) => answer({ ...text("no"), isError: true }) });
    expect(await call()).toEqual({ text: "no", isError: true, truncated: false });
  });

  it("truncates a long result", async () => {
    const { call } = await register({ "on tools/call": ({ answer }) => answer(text("x".repeat(200_000))) });
    const outcome = await call();
    expect(outcome).toMatchObject({ isError: false, truncated: true });
    expect(Buffer.byteLength(outcome.text)).toBeLessThanOrEqual(65_536);
  });

  it("reports a server that is down, and stores its status until the server is back", async () => {
    const { server, made, name, call } = await register({ "on tools/call": ({ answer }) => answer(text("hello")) });
    const usual = server.script;
    server.script = { before: (_request, response) => !!response.writeHead(503).end() };
    expect(await call()).toEqual({
      text: `The tool server ${name} failed: The server answers with status 503. Whether the tool ran is unknown.`,
      isError: true,
      truncated: false,
      failure: "unknown",
    });
    expect(await statusOf(made.id)).toEqual({ status: "unreachable", lastError: "The server answers with status 503" });
    server.script = usual;
    expect((await call()).isError).toBe(false);
    expect(await statusOf(made.id)).toEqual({ status: "connected", lastError: null });
    await server.close();
    expect(await call()).toMatchObject({ isError: true, failure: expect.any(String) });
    expect((await statusOf(made.id)).status).toBe("unreachable");
    server.close = async () => {};
  });

  it.each([400, 429])("a refusal of one call (%i) is quoted, and the status kept", async (status) => {
    const { made, name, call } = await register({
      "on tools/call": ({ response }) => response.writeHead(status).end("not now"),
    });
    const said = `The tool server ${name} failed: The server answers with status ${status}: not now. The tool did not run.`;
    expect(await call()).toMatchObject({ isError: true, text: said });
    expect((await statusOf(made.id)).status).toBe("connected");
  });

  it("stores the status of a server that sends too much; one large answer does not change the status", async () => {
    const large = "data: {}\n\n".repeat(200_000);
    const flood = { "content-type": "text/event-stream" };
    const { server, made, call } = await register({
      "on tools/call": ({ response }) => void response.writeHead(200, flood).end(large),
    });
    expect(await call()).toMatchObject({ isError: true, failure: "unknown" });
    expect((await statusOf(made.id)).status).toBe("connected");
    server.script = { "on tools/list": ({ response }) => void response.writeHead(200, flood).end(large) };
    await expect(t.toolServers.listTools(ownerId, made.id)).rejects.toMatchObject({ type: "downstream_service_error" });
    const tooMuch = { status: "unreachable", lastError: "The server sends too many messages" };
    expect(await statusOf(made.id)).toEqual(tooMuch);
  });

  it("stores the last result as status, even if calls overlap", async () => {
    const { made, call } = await register({
      "on tools/call": ({ answer, response, message }) => {
        if (message.params.arguments.bad) response.writeHead(503).end();
        else setTimeout(() => answer(text("fine")), 400);
      },
    });
    const slow = call();
    expect((await call({ arguments: { bad: true } })).isError).toBe(true);
    expect((await statusOf(made.id)).status).toBe("unreachable");
    expect((await slow).isError).toBe(false);
    expect(await statusOf(made.id)).toEqual({ status: "connected", lastError: null });
  });

  it("reports a timeout of a tool and keeps the status", async () => {
    const { made, call } = await register({ "on tools/call": () => {} });
    expect(await call()).toMatchObject({ isError: true, failure: "unknown", text: expect.stringContaining("in time") });
    expect((await statusOf(made.id)).status).toBe("connected");
  });

  it("rejects on abort and cancels the call on the server", async () => {
    const { server, call } = await register({ "on tools/call": ({ send }) => send({ method: "x" }) });
    const caller = new AbortController();
    const running = call({ signal: caller.signal });
    const refused = expect(running).rejects.toThrow("gone");
    await waitFor("the call", () => server.messages.some(({ method }) => method === "tools/call"));
    caller.abort(new Error("gone"));
    await refused;
    await waitFor("the word", () => server.messages.some(({ method }) => method === "notifications/cancelled"));
  });

  it("passes progress on", async () => {
    const { call } = await register({
      "on tools/call": ({ send, message, response }) => {
        const params = { progressToken: message.params._meta.progressToken, progress: 1, total: 2, message: "half" };
        send({ method: "notifications/progress", params });
        send({ id: message.id, result: text("done") });
        response.end();
      },
    });
    const seen: unknown[] = [];
    expect((await call({ onProgress: (progress) => seen.push(progress) })).text).toBe("done");
    expect(seen).toEqual([{ progress: 1, total: 2, message: "half" }]);
  });

  it("is limited to the owner", async () => {
    const { server, made, call } = await register();
    server.messages.length = 0;
    await expect(call({ ownerId: otherId })).rejects.toMatchObject({ type: "not_found" });
    await expect(call({ serverId: newId("mcpServer") })).rejects.toMatchObject({ type: "not_found" });
    await expect(call({ serverId: "rubbish\0" })).rejects.toMatchObject({ type: "not_found" });
    expect(await t.toolServers.serversAmong(otherId, [made.id])).toEqual(new Map());
    expect(await t.toolServers.serversAmong(ownerId, ["\0", made.id])).toEqual(
      new Map([[made.id, { name: made.name, knownTools: new Set(["echo"]) }]]),
    );
    expect(server.messages).toEqual([]);
  });
});

describe("credentials", () => {
  const token = 'tok-5f0c7e1a"b\\c';
  const echoing: Script = {
    before: (request, response) => {
      if (request.headers.authorization !== `Bearer ${token}`) {
        json(response, { error: `no good: ${request.headers.authorization}` }, 401);
        return true;
      }
      return false;
    },
    "on tools/call": ({ answer, request }) =>
      answer({ ...text(`you sent ${request.headers.authorization}`), structuredContent: { headers: request.headers } }),
  };

  it("are sealed in the database, masked in answers, and never logged", async () => {
    const { made, call } = await register(echoing, { type: "bearer", token });
    expect(made.status).toBe("connected");
    const outcome = await call();
    expect(outcome.text).toContain("you sent Bearer [hidden]");
    const [row] = await database.sql`select * from tool_servers where id = ${made.id}`;
    expect(JSON.stringify({ ...row, sealed: Buffer.from(row?.sealed_credential).toString("latin1") })).not.toContain(
      "5f0c7e1a",
    );
    await t.toolServers.change(ownerId, made.id, { auth: { type: "bearer", token: "other-7a7a7a7a" } });
    expect(await statusOf(made.id)).toMatchObject({ status: "unauthorized" });
    expect(await call()).toMatchObject({ isError: true, failure: "not_made" });
    expect(
      outcome.text +
        t.logged() +
        JSON.stringify(await t.toolServers.read(ownerId, made.id).then(({ lastError }) => lastError)),
    ).not.toMatch(/5f0c7e1a|7a7a7a7a/);
  });

  it("are masked before a long message is truncated", async () => {
    const { call } = await register(
      {
        "on tools/call": ({ response, request }) =>
          response.writeHead(500).end(`${"x".repeat(355)} ${request.headers.authorization}`),
      },
      { type: "bearer", token },
    );
    const { text: told } = await call();
    expect(told).toContain("status 500: xxx");
    expect(told).not.toContain(token.slice(0, 4));
  });

  it("that are shorter than allowed today still work and survive a change of other fields", async () => {
    const { made, call } = await register(
      {
        before: (request, response) => {
          if (request.headers.authorization === "Bearer pin42") return false;
          json(response, {}, 401);
          return true;
        },
        "on tools/call": ({ answer }) => answer(text("hello")),
      },
      { type: "bearer", token: "pin42" },
    );
    expect(await call()).toMatchObject({ text: "hello", isError: false });
    expect(await t.toolServers.change(ownerId, made.id, { name: `${made.name}-x` })).toMatchObject({
      status: "connected",
    });
    expect((await call()).isError).toBe(false);
  });

  it("that cannot be decrypted are reported and can be entered again", async () => {
    const { made } = await register(echoing, { type: "bearer", token });
    const moved = t.another({ secretKey: new Uint8Array(32) });
    const call = { ownerId, userId: ownerId, serverId: made.id, tool: "echo", arguments: {} };
    expect(await moved.callTool(call)).toMatchObject({
      isError: true,
      failure: "not_made",
      text: expect.stringContaining("Enter them again"),
    });
    expect((await statusOf(made.id)).status).toBe("unauthorized");
    const changed = await moved.change(ownerId, made.id, { auth: { type: "bearer", token } });
    expect(changed.status).toBe("connected");
    expect((await moved.callTool(call)).isError).toBe(false);
  });

  it("are kept from http to https, but not for another port", async () => {
    const { made } = await register(echoing, { type: "bearer", token });
    const other = await t.serve();
    const change = (url: string) => t.toolServers.change(ownerId, made.id, { url });
    await expect(change(other.url)).rejects.toMatchObject({ type: "missing" });
    expect(other.requests).toEqual([]);
    await expect(change(made.url.replace("http:", "https:"))).rejects.toMatchObject({ type: "missing" });
    expect((await change(`${made.url}?a`)).status).toBe("connected");
  });

  it("are masked in descriptions of tools", async () => {
    const { made } = await register(
      {
        "on tools/list": ({ answer, request: { headers } }) =>
          answer({
            tools: [
              { ...echoTool, description: headers.authorization },
              { ...echoTool, name: token },
            ],
          }),
      },
      { type: "bearer", token },
    );
    const [listed, described] = [
      await t.toolServers.listTools(ownerId, made.id),
      await t.toolServers.describeTools(ownerId, [{ id: made.id }], { userId: ownerId }),
    ];
    expect(listed.tools).toEqual([expect.objectContaining({ name: "echo", description: "Bearer [hidden]" })]);
    expect(JSON.stringify([listed, described])).not.toContain("5f0c7e1a");
    expect((await t.toolServers.serversAmong(ownerId, [made.id])).get(made.id)?.knownTools).toEqual(
      new Set(["echo", "[hidden]"]),
    );
  });

  it.each([
    ["behind much else", (sent: string) => "x".repeat(8172) + sent],
    ["again and again", (sent: string) => sent.repeat(2000)],
  ])("are not half shown where a long description is cut (%s)", async (_where, description) => {
    const { made } = await register(
      {
        "on tools/list": ({ answer, request: { headers } }) =>
          answer({ tools: [{ ...echoTool, description: description(`${headers.authorization}`) }] }),
      },
      { type: "bearer", token },
    );
    const [listed] = (await t.toolServers.listTools(ownerId, made.id)).tools;
    expect(listed?.description).toContain("Bearer [hid");
    expect(listed?.description).not.toContain(token.slice(0, 3));
    expect(listed?.description.length).toBeLessThanOrEqual(8192);
  });

  it("take effect in other processes with the next call", async () => {
    let accepted = "first-token";
    const { made, call } = await register(
      {
        before: (request, response) => {
          if (request.headers.authorization === `Bearer ${accepted}`) return false;
          json(response, {}, 401);
          return true;
        },
        "on tools/call": ({ answer }) => answer(text("hello")),
      },
      { type: "bearer", token: "first-token" },
    );
    expect((await call()).isError).toBe(false);
    accepted = "second-token";
    await t.another({}).change(ownerId, made.id, { auth: { type: "bearer", token: "second-token" } });
    expect((await call()).isError).toBe(false);
  });
});

describe("the tools of an agent's servers", () => {
  const hinted = (name: string, annotations: object = {}) => ({ ...echoTool, name, annotations });
  const offering = (...tools: object[]): Script => ({ "on tools/list": ({ answer }) => answer({ tools }) });

  it("have a name, a kind and the server's own name", async () => {
    const first = await register(
      offering(hinted("read", { readOnlyHint: true }), hinted("drop.all", { destructiveHint: true })),
    );
    const second = await register(offering(hinted("a"), hinted("b")));
    const bindings = [{ id: first.made.id }, { id: second.made.id, tools: ["b"] }];
    const { tools, missing } = await t.toolServers.describeTools(ownerId, bindings, { userId: ownerId });
    expect(missing).toEqual([]);
    expect(tools.map(({ name, kind, asks, serverId, tool }) => ({ name, kind, asks, serverId, tool }))).toEqual([
      { name: `${first.name}__read`, kind: "read", asks: false, serverId: first.made.id, tool: "read" },
      { name: `${first.name}__drop_all`, kind: "write", asks: true, serverId: first.made.id, tool: "drop.all" },
      { name: `${second.name}__b`, kind: "write", asks: false, serverId: second.made.id, tool: "b" },
    ]);
    expect(tools[0]).toMatchObject({ description: "Repeats its input.", parameters: { type: "object" } });
  });

  it("lists what is missing", async () => {
    const good = await register(offering(hinted("a")));
    const away = await register();
    away.server.script = { before: (_request, response) => !!response.writeHead(503).end() };
    const gone = newId("mcpServer");
    const bindings = [{ id: good.made.id, tools: ["a", "old"] }, { id: away.made.id }, { id: gone }];
    const { tools, missing } = await t.toolServers.describeTools(ownerId, bindings, { userId: ownerId });
    expect(tools.map(({ tool }) => tool)).toEqual(["a"]);
    expect(missing).toEqual([
      { serverId: good.made.id, serverName: good.name, tool: "old", reason: "The server has no such tool" },
      { serverId: away.made.id, serverName: away.name, reason: "The server answers with status 503" },
      { serverId: gone, serverName: undefined, reason: "The server was deleted" },
    ]);
    expect(await t.toolServers.describeTools(otherId, [{ id: good.made.id }], { userId: otherId })).toMatchObject({
      tools: [],
    });
  });

  it("lists tools that cannot be called or were not read", async () => {
    const task = { ...hinted("slow"), execution: { taskSupport: "required" } };
    const some = await register(offering(hinted("a"), task));
    expect(await t.toolServers.describeTools(ownerId, [{ id: some.made.id }], { userId: ownerId })).toMatchObject({
      tools: [{ tool: "a" }],
      missing: [{ tool: "slow", reason: expect.stringContaining("task") }],
    });
    const limited = await t.toolServers.describeTools(ownerId, [{ id: some.made.id, tools: ["a"] }], {
      userId: ownerId,
    });
    expect(limited.missing).toEqual([]);
    const many = await register(offering(...Array.from({ length: 1500 }, (_, n) => hinted(`t${n}`))));
    const two = [{ id: many.made.id, tools: ["t1", "t1200"] }];
    expect(await t.toolServers.describeTools(ownerId, two, { userId: ownerId })).toMatchObject({
      tools: [{ tool: "t1" }],
      missing: [{ tool: "t1200", reason: expect.stringContaining("more tools than Gantry reads") }],
    });
    // Unknown tools cause no warning.
    const named = await t.toolServers.serversAmong(ownerId, [many.made.id]);
    expect(named.get(many.made.id)).toEqual({ name: many.made.name, knownTools: undefined });
  });
});
