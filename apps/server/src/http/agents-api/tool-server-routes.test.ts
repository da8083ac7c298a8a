import { newId, serverToolListRecord, toolServerRecord } from "@gantry/wire";
import type { FastifyInstance, InjectOptions } from "fastify";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AccountsUnderTest, type Answer, accountsUnderTest } from "../../../test/support/account-api.ts";
import { everythingServer } from "../../engines/tools/everything-server.fixture.ts";
import { echoTool, json, type Script } from "../../engines/tools/scripted-server.fixture.ts";
import { type ToolServersUnderTest, toolServersUnderTest } from "../../features/tool-servers/tool-servers.fixture.ts";
import { createServer } from "../foundation/server.ts";
import { agentsApi } from "./agents-api.ts";
import { toolServerRoutes } from "./tool-server-routes.ts";

let accounts: AccountsUnderTest;
let t: ToolServersUnderTest;
let app: FastifyInstance;
let guarded: FastifyInstance;
let key = "";
let users = 0;

beforeAll(async () => {
  accounts = await accountsUnderTest();
  t = toolServersUnderTest(accounts.database, { connectMs: 3000, listMs: 3000, listTtlMs: 100 });
  const serve = async (toolServers: ToolServersUnderTest["toolServers"]) => {
    const authenticate = (presented: string) => accounts.accounts.authenticate(presented);
    const server = createServer({ log: t.log, publicUrl: undefined, authenticate });
    await server.register(agentsApi, { log: t.log, routes: [toolServerRoutes(toolServers)] });
    return server;
  };
  app = await serve(t.toolServers);
  guarded = await serve(t.another({ allowPrivateNetwork: false }));
});
afterAll(async () => {
  await app.close();
  await guarded.close();
  await t.close();
  await accounts.close();
});
beforeEach(async () => {
  key = await accounts.newUser(`user-${++users}`);
});
afterEach(() => t.clear());

async function call(
  method: NonNullable<InjectOptions["method"]>,
  path: string,
  body?: unknown,
  { as = key, on = app } = {},
): Promise<Answer> {
  const response = await on.inject({
    method,
    url: `/v1/mcp-servers${path}`,
    headers: as === "" ? {} : { "x-api-key": as },
    ...(body !== undefined && { payload: body as object }),
  });
  const parsed = response.body === "" ? undefined : response.json();
  return { status: response.statusCode, headers: response.headers, text: response.body, body: parsed };
}

const demanding = (token: string): Script => ({
  before: (request, response) => {
    const given = request.headers.authorization ?? request.headers["x-service-key"];
    if (given === token || given === `Bearer ${token}`) return false;
    json(response, { error: `not ${given}` }, 401);
    return true;
  },
});

async function body(script: Script = {}, more: object = {}) {
  const server = await t.serve(script);
  return { name: "tools", url: server.url, connection_type: "streamable_http", ...more };
}

async function create(script: Script = {}, more: object = {}) {
  const answer = await call("POST", "", await body(script, more));
  expect(answer.status).toBe(201);
  return answer.body;
}

const faults = (answer: Answer): string[] =>
  answer.body.error.details.map(({ loc }: { loc: string[] }) => loc.join("."));

const routes = [
  ["POST", ""],
  ["GET", ""],
  ["GET", "/mcp_x"],
  ["PATCH", "/mcp_x"],
  ["DELETE", "/mcp_x"],
  ["GET", "/mcp_x/tools"],
] as const;

describe.each(routes)("%s /v1/mcp-servers%s", (method, path) => {
  it("401 without a key, or with a wrong one", async () => {
    for (const as of ["", "gk_000000000000_nothing"]) {
      const answer = await call(method, path, undefined, { as });
      expect(answer.status).toBe(401);
      expect(answer.body.error).toMatchObject({ type: "unauthorized", code: "unauthorized" });
    }
  });
});

describe.each([
  ["GET", ""],
  ["PATCH", ""],
  ["DELETE", ""],
  ["GET", "/tools"],
] as const)("%s /v1/mcp-servers/{id}%s", (method, below) => {
  it("404 for an unknown server, an invalid id, and another user's server", async () => {
    const { id } = await create();
    const stranger = await accounts.newUser(`stranger-${users}-${method.toLowerCase()}${below ? "-t" : ""}`);
    const change = method === "PATCH" ? { name: "other" } : undefined;
    for (const [as, wanted] of [
      [key, newId("mcpServer")],
      [key, "rubbish"],
      [stranger, id],
    ] as const) {
      const answer = await call(method, `/${wanted}${below}`, change, { as });
      expect(answer.status).toBe(404);
      expect(answer.body.error).toMatchObject({ type: "not_found", message: "Tool server not found" });
    }
    expect((await call("GET", `/${id}`)).status).toBe(200);
  });
});

describe("POST /v1/mcp-servers", () => {
  it("201: connects, and shows everything but the credentials", async () => {
    const token = "tok-abcdef123456";
    const given = await body(demanding(token), { auth: { type: "bearer", token } });
    const answer = await call("POST", "", given);
    expect(answer.status).toBe(201);
    expect(toolServerRecord.parse(answer.body)).toEqual({
      id: expect.stringMatching(/^mcp_/),
      name: "tools",
      url: given.url,
      connection_type: "streamable_http",
      auth: { type: "bearer" },
      status: "connected",
      last_error: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    expect((await call("GET", `/${answer.body.id}`)).body).toEqual(answer.body);
    expect(answer.text + t.logged()).not.toContain(token);
  });

  it("201 with a key in a header of its own, and without anything", async () => {
    const auth = { type: "api_key", header: "X-Service-Key", value: "key-abcdef" };
    const record = await create(demanding("key-abcdef"), { auth });
    expect(record).toMatchObject({ status: "connected", auth: { type: "api_key", header: "X-Service-Key" } });
    expect(await create({}, { name: "open" })).toMatchObject({ status: "connected", auth: null });
    expect(await create({}, { name: "null", auth: null })).toMatchObject({ status: "connected", auth: null });
  });

  it("201 unauthorized when the credentials are refused, wrong or missing", async () => {
    const wrong = await create(demanding("right"), { auth: { type: "bearer", token: "wrong-token-77" } });
    expect(wrong).toMatchObject({ status: "unauthorized", last_error: expect.stringContaining("401") });
    expect(JSON.stringify(wrong) + t.logged()).not.toContain("wrong-token-77");
    expect((await create(demanding("right"), { name: "none" })).status).toBe("unauthorized");
  });

  it.each<[string, Script]>([
    ["hangs", { "on initialize": () => {} }],
    ["hangs at its tools", { "on tools/list": () => {} }],
    ["fails", { before: (_request, response) => !!response.writeHead(500).end() }],
    ["is not an MCP server", { before: (_request, response) => !!response.writeHead(200).end("<html>") }],
    [
      "redirects inward",
      { before: (_q, response) => !!response.writeHead(307, { location: "http://127.0.0.1/" }).end() },
    ],
  ])("201 unreachable when the server %s", async (_how, script) => {
    const record = await create(script);
    expect(record).toMatchObject({ status: "unreachable", last_error: expect.stringMatching(/^The server /) });
    expect((await call("GET", `/${record.id}`)).body).toEqual(record);
  });

  it("201 unreachable when no server responds", async () => {
    const answer = await call("POST", "", { name: "x", url: "http://127.0.0.1:9/mcp", connection_type: "sse" });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ status: "unreachable", last_error: expect.stringMatching(/refused$/) });
  });

  it("400 names every wrong field", async () => {
    const missing = await call("POST", "", {});
    expect(missing.status).toBe(400);
    expect(missing.body.error).toMatchObject({ type: "invalid_input", code: "invalid_input" });
    expect(faults(missing).sort()).toEqual(["body.connection_type", "body.name", "body.url"]);
    const good = { name: "x", url: "http://example.com/mcp", connection_type: "sse" };
    const wrong: [object, string[]][] = [
      [{ name: "" }, ["body.name"]],
      [{ name: "x".repeat(41) }, ["body.name"]],
      [{ name: "a b" }, ["body.name"]],
      [{ name: 7 }, ["body.name"]],
      [{ url: "nonsense" }, ["body.url"]],
      [{ url: "ftp://example.com" }, ["body.url"]],
      [{ url: "http://example.com/a\u0000b" }, ["body.url"]],
      [{ url: "http://example.com/a\ud800" }, ["body.url"]],
      [{ url: "http://example.com/a\tb" }, ["body.url"]],
      [{ url: "http://user:pass@example.com" }, ["body.url"]],
      [{ url: `http://example.com/${"x".repeat(2048)}` }, ["body.url"]],
      [{ connection_type: "stdio" }, ["body.connection_type"]],
      [{ status: "connected" }, ["body.status"]],
      [{ auth: "token" }, ["body.auth"]],
      [{ auth: { type: "basic" } }, ["body.auth.type"]],
      [{ auth: { type: "bearer" } }, ["body.auth.token"]],
      [{ auth: { type: "bearer", token: "a b" } }, ["body.auth.token"]],
      [{ auth: { type: "bearer", token: "long-enough", header: "y" } }, ["body.auth.header"]],
      [{ auth: { type: "api_key", header: "X-Key", value: "a\r\nHost: b" } }, ["body.auth.value"]],
      [{ auth: { type: "api_key", header: "X Key", value: "long-enough" } }, ["body.auth.header"]],
      [{ auth: { type: "api_key", header: "Content-Length", value: "long-enough" } }, ["body.auth.header"]],
      [{ auth: { type: "api_key", header: "mcp-session-id", value: "long-enough" } }, ["body.auth.header"]],
      [{ name: "", connection_type: "x" }, ["body.connection_type", "body.name"]],
    ];
    for (const [change, where] of wrong) {
      const answer = await call("POST", "", { ...good, ...change });
      expect([answer.status, faults(answer).sort()], JSON.stringify(change)).toEqual([400, where]);
    }
    for (const payload of [undefined, [], "text"]) expect((await call("POST", "", payload)).status).toBe(400);
    expect((await call("GET", "")).body.total).toBe(0);
  });

  it("400 for a private address, by number or by name", async () => {
    const { url } = await t.serve();
    const addresses = [
      url,
      url.replace("127.0.0.1", "localhost"),
      "http://10.0.0.1/mcp",
      "http://[::1]:1/",
      "http://169.254.169.254/",
    ];
    for (const [at, address] of addresses.entries()) {
      const given = { name: `p${at}`, url: address, connection_type: at % 2 ? "sse" : "streamable_http" };
      const answer = await call("POST", "", given, { on: guarded });
      expect([answer.status, faults(answer)]).toEqual([400, ["body.url"]]);
    }
    expect((await call("GET", "")).body.total).toBe(0);
  });

  it("409 for a name that the user has already, also when both come at once; another user may have it", async () => {
    await create();
    const again = await call("POST", "", await body());
    expect(again.status).toBe(409);
    expect(again.body.error).toMatchObject({ type: "conflict", message: expect.stringContaining("tools") });
    const same = { ...(await body()), name: "twins" };
    const both = await Promise.all([call("POST", "", same), call("POST", "", same)]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    const other = await accounts.newUser(`other-${users}`);
    expect((await call("POST", "", await body(), { as: other })).status).toBe(201);
  });
});

describe("GET /v1/mcp-servers", () => {
  it("200: the caller's own, newest first, in pages", async () => {
    expect((await call("GET", "")).body).toEqual({ mcp_servers: [], total: 0, limit: 20, offset: 0 });
    const made = [await create({}, { name: "a" }), await create({}, { name: "b" }), await create({}, { name: "c" })];
    const all = await call("GET", "");
    expect(all.body).toEqual({ mcp_servers: made.toReversed(), total: 3, limit: 20, offset: 0 });
    const page = await call("GET", "?limit=1&offset=1");
    expect(page.body).toEqual({ mcp_servers: [made[1]], total: 3, limit: 1, offset: 1 });
    expect((await call("GET", "?offset=9")).body).toMatchObject({ mcp_servers: [], total: 3 });
  });

  it.each(["?limit=0", "?limit=101", "?limit=x", "?offset=-1"])("400 for %s", async (query) => {
    const answer = await call("GET", query);
    expect([answer.status, answer.body.error.type]).toEqual([400, "invalid_input"]);
  });
});

describe("PATCH /v1/mcp-servers/{id}", () => {
  it("200: changes the given fields, reconnects, keeps the rest", async () => {
    const record = await create(demanding("right-token"), { auth: { type: "bearer", token: "wrong-token" } });
    expect(record.status).toBe("unauthorized");
    const changed = await call("PATCH", `/${record.id}`, { auth: { type: "bearer", token: "right-token" } });
    expect(changed.status).toBe(200);
    expect(toolServerRecord.parse(changed.body)).toEqual({
      ...record,
      status: "connected",
      last_error: null,
      updated_at: changed.body.updated_at,
    });
    const renamed = await call("PATCH", `/${record.id}`, { name: "renamed" });
    expect(renamed.body).toMatchObject({ name: "renamed", status: "connected", auth: { type: "bearer" } });
    expect((await call("GET", `/${record.id}/tools`)).status).toBe(200);
    const without = await call("PATCH", `/${record.id}`, { auth: null });
    expect(without.body).toMatchObject({ auth: null, status: "unauthorized" });
    expect((await call("GET", `/${record.id}`)).body).toEqual(without.body);
  });

  it("200: another path of the same origin keeps the credentials", async () => {
    const record = await create(demanding("the-token"), { auth: { type: "bearer", token: "the-token" } });
    const url = `${record.url}?another`;
    const changed = await call("PATCH", `/${record.id}`, { url });
    expect(changed.body).toMatchObject({ url, status: "connected", auth: { type: "bearer" } });
  });

  it("400 when credentials would go to another port", async () => {
    const record = await create({}, { auth: { type: "bearer", token: "the-token" } });
    const elsewhere = await t.serve();
    const refused = await call("PATCH", `/${record.id}`, { url: elsewhere.url });
    expect([refused.status, faults(refused)]).toEqual([400, ["body.auth"]]);
    expect(elsewhere.requests).toEqual([]);
  });

  it("400 when credentials would go to another host; with auth it may", async () => {
    const record = await create({}, { auth: { type: "bearer", token: "the-token" } });
    const elsewhere = await t.serve();
    const url = elsewhere.url.replace("127.0.0.1", "localhost");
    const refused = await call("PATCH", `/${record.id}`, { url });
    expect([refused.status, faults(refused)]).toEqual([400, ["body.auth"]]);
    expect(elsewhere.requests).toEqual([]);
    expect((await call("GET", `/${record.id}`)).body).toEqual(record);
    const moved = await call("PATCH", `/${record.id}`, { url, auth: null });
    expect(moved.body).toMatchObject({ url, auth: null, status: "connected" });
  });

  it("200 unreachable where the new address does not answer", async () => {
    const record = await create();
    const changed = await call("PATCH", `/${record.id}`, { url: "http://127.0.0.1:9/mcp" });
    expect(changed.body).toMatchObject({ status: "unreachable", last_error: expect.stringMatching(/refused$/) });
  });

  it("400 for nothing, for wrong fields and for a private address; nothing changes", async () => {
    const record = await create();
    const id = `/${record.id}`;
    expect(faults(await call("PATCH", id, {}))).toEqual(["body"]);
    expect((await call("PATCH", id)).status).toBe(400);
    expect(faults(await call("PATCH", id, { name: "a b", id: "mcp_1" })).sort()).toEqual(["body.id", "body.name"]);
    const inward = await call("PATCH", id, { url: "http://10.1.2.3/mcp" }, { on: guarded });
    expect([inward.status, faults(inward)]).toEqual([400, ["body.url"]]);
    expect((await call("GET", id)).body).toEqual(record);
  });

  it("409 for another server's name; its own name may be given", async () => {
    const first = await create({}, { name: "first" });
    const second = await create({}, { name: "second" });
    const answer = await call("PATCH", `/${second.id}`, { name: "first" });
    expect([answer.status, answer.body.error.type]).toEqual([409, "conflict"]);
    expect((await call("PATCH", `/${first.id}`, { name: "first" })).status).toBe(200);
    const both = await Promise.all([first, second].map(({ id }) => call("PATCH", `/${id}`, { name: "same" })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it("200: changes that come at once are all made", async () => {
    const { id } = await create({}, { auth: { type: "bearer", token: "the-token" } });
    const answers = await Promise.all([
      call("PATCH", `/${id}`, { name: "renamed" }),
      call("PATCH", `/${id}`, { auth: null }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await call("GET", `/${id}`)).body).toMatchObject({ name: "renamed", auth: null });
  });
});

describe("DELETE /v1/mcp-servers/{id}", () => {
  it("204, and it is gone", async () => {
    const { id } = await create();
    const answer = await call("DELETE", `/${id}`);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect((await call("GET", `/${id}`)).status).toBe(404);
    expect((await call("DELETE", `/${id}`)).status).toBe(404);
    expect((await call("POST", "", await body())).status).toBe(201);
  });

  it("409 names the agents that use it, unless forced", async () => {
    const { id } = await create();
    t.users.push({ id: "agt_1", name: "Helper" }, { id: "agt_2", name: "Clerk" });
    for (const query of ["", "?force=false"]) {
      const answer = await call("DELETE", `/${id}${query}`);
      expect(answer.status).toBe(409);
      expect(answer.body.error).toMatchObject({
        type: "conflict",
        message: expect.stringMatching(/Helper, Clerk/),
        details: {
          agents: [
            { id: "agt_1", name: "Helper" },
            { id: "agt_2", name: "Clerk" },
          ],
        },
      });
    }
    expect((await call("DELETE", `/${id}?force=yes`)).status).toBe(400);
    expect((await call("GET", `/${id}`)).status).toBe(200);
    expect((await call("DELETE", `/${id}?force=true`)).status).toBe(204);
  });
});

describe("GET /v1/mcp-servers/{id}/tools", () => {
  it("200: name, description and schema of each, and what cannot be used", async () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string", enum: ["x"], default: "x" } },
      required: ["a"],
    };
    const tool = { ...echoTool, inputSchema: schema, annotations: { destructiveHint: true } };
    const later = { ...echoTool, name: "later", execution: { taskSupport: "required" } };
    const { id } = await create({ "on tools/list": ({ answer }) => answer({ tools: [tool, later] }) });
    const answer = await call("GET", `/${id}/tools`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      tools: [{ name: "echo", description: "Repeats its input.", parameters: schema }],
      unusable: [{ name: "later", reason: "Can only be called as a task, which is not supported" }],
      is_cut: false,
    });
    serverToolListRecord.parse(answer.body);
  });

  it("200: a thousand of them, and that there are more", async () => {
    const tools = Array.from({ length: 1001 }, (_, at) => ({ ...echoTool, name: `t${at}` }));
    const { id } = await create({ "on tools/list": ({ answer }) => answer({ tools }) });
    const { body } = await call("GET", `/${id}/tools`);
    expect([body.tools.length, body.is_cut]).toEqual([1000, true]);
  });

  it.each(["streamable_http", "sse"] as const)("200 with the reference server over %s", async (connectionType) => {
    const server = await everythingServer(connectionType);
    try {
      const made = await call("POST", "", { name: "all", url: server.url, connection_type: connectionType });
      expect(made.body).toMatchObject({ status: "connected" });
      const { body: listed } = await call("GET", `/${made.body.id}/tools`);
      expect(listed.tools.map(({ name }: { name: string }) => name)).toEqual(
        expect.arrayContaining(["echo", "get-sum"]),
      );
    } finally {
      await server.kill();
    }
  });

  it("502 while the server is away, and the status says so; 200 when it is back", async () => {
    const server = await t.serve();
    const made = await call("POST", "", { name: "x", url: server.url, connection_type: "streamable_http" });
    const id = made.body.id;
    server.script = { before: (_request, response) => !!response.writeHead(503).end("secret details") };
    await new Promise((resolve) => setTimeout(resolve, 150));
    const answer = await call("GET", `/${id}/tools`);
    expect(answer.status).toBe(502);
    expect(answer.body.error).toMatchObject({
      type: "upstream_error",
      code: "upstream_error",
      message: "x: The server answers with status 503",
      details: { reason: "unreachable", status: 503 },
    });
    expect((await call("GET", `/${id}`)).body).toMatchObject({
      status: "unreachable",
      last_error: "The server answers with status 503",
    });
    server.script = demanding("right");
    expect((await call("GET", `/${id}/tools`)).status).toBe(502);
    expect((await call("GET", `/${id}`)).body.status).toBe("unauthorized");
    server.script = {};
    expect((await call("GET", `/${id}/tools`)).body.tools).toHaveLength(1);
    expect((await call("GET", `/${id}`)).body).toMatchObject({ status: "connected", last_error: null });
  });

  it("502 where an address has become private since", async () => {
    const { id } = await create();
    const answer = await call("GET", `/${id}/tools`, undefined, { on: guarded });
    expect([answer.status, answer.body.error.type]).toEqual([502, "upstream_error"]);
  });
});

it("405 for another method", async () => {
  const answer = await call("PUT", "/mcp_x", {});
  expect(answer.status).toBe(405);
});
