import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { everythingServer } from "../../../src/engines/tools/everything-server.fixture.ts";
import {
  type Script,
  type ScriptedServer,
  scriptedServer,
} from "../../../src/engines/tools/scripted-server.fixture.ts";
import { type Answer, type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
const scripted: ScriptedServer[] = [];

beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.close());
afterEach(async () => {
  await Promise.all(scripted.splice(0).map((server) => server.close()));
});

let registered = 0;
const register = (url: string, fields: object = {}) =>
  gantry.call("POST", "/v1/mcp-servers", {
    json: { name: `srv${++registered}`, url, connection_type: "streamable_http", ...fields },
  });

async function serve(script: Script = {}): Promise<ScriptedServer> {
  const server = await scriptedServer(script);
  scripted.push(server);
  return server;
}

const read = (id: string) => gantry.call("GET", `/v1/mcp-servers/${id}`);
const toolsOf = (id: string) => gantry.call("GET", `/v1/mcp-servers/${id}/tools`);

describe("the tools of a server", () => {
  test.each(["streamable_http", "sse"] as const)("over %s: 502 as soon as it is dead", async (connectionType) => {
    const server = await everythingServer(connectionType);
    const { body } = await register(server.url, { connection_type: connectionType });
    expect(body).toMatchObject({ status: "connected" });
    expect((await toolsOf(body.id)).status).toBe(200);
    await server.kill();
    const dead = await toolsOf(body.id);
    expect([dead.status, dead.body.error?.type], dead.text).toEqual([502, "upstream_error"]);
    expect((await read(body.id)).body).toMatchObject({ status: "unreachable", last_error: expect.any(String) });
  });

  test("are the server's current ones", async () => {
    const server = await serve();
    const { id } = (await register(server.url)).body;
    const names = async () => (await toolsOf(id)).body.tools.map(({ name }: { name: string }) => name);
    expect(await names()).toEqual(["echo"]);
    server.script = { "on tools/list": ({ answer }) => answer({ tools: [{ name: "other", inputSchema: {} }] }) };
    expect(await names()).toEqual(["other"]);
  });
});

test("a server's refusal is shown to its owner and not logged", async () => {
  const server = await serve();
  const { id } = (await register(server.url)).body;
  const error = { code: -32_000, message: "no tools for jane.private@example.com" };
  server.script = {
    "on tools/list": ({ response, message: { id: asked } }) =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id: asked, error })),
  };
  const { status, body, headers } = await toolsOf(id);
  expect(status).toBe(502);
  expect(body.error.message).toContain("jane.private@example.com");
  const lines = gantry.logged().trim().split("\n");
  const line = lines
    .map((one) => JSON.parse(one))
    .find((one) => one.level === 50 && one.request_id === headers.get("x-request-id"));
  expect(line).toMatchObject({ msg: "tool server failed", err: { code: "protocol" } });
  expect(gantry.logged()).not.toContain("jane.private");
});

describe("a credential that is too short to be masked", () => {
  const fieldsOf = (answer: Answer) => answer.body.error.details.map(({ loc }: { loc: string[] }) => loc.join("."));
  const tooShort: [object, string][] = [
    [{ type: "bearer", token: "pin42" }, "body.auth.token"],
    [{ type: "bearer", token: "seven77" }, "body.auth.token"],
    [{ type: "api_key", header: "X-Key", value: "pin42" }, "body.auth.value"],
    [{ type: "api_key", header: "X-Key", value: "seven77" }, "body.auth.value"],
  ];

  test.each(tooShort)("%j is refused when it is stored and when it is changed", async (auth, field) => {
    const { url } = await serve();
    const made = await register(url, { auth });
    expect([made.status, fieldsOf(made)]).toEqual([400, [field]]);
    expect(made.body.error.message).toContain("8");
    const { id } = (await register(url)).body;
    const changed = await gantry.call("PATCH", `/v1/mcp-servers/${id}`, { json: { auth } });
    expect([changed.status, fieldsOf(changed)]).toEqual([400, [field]]);
    expect((await read(id)).body.auth).toBeNull();
  });

  test("eight characters are enough", async () => {
    const { url } = await serve();
    for (const auth of [
      { type: "bearer", token: "eight888" },
      { type: "api_key", header: "X-Key", value: "eight 88" },
    ]) {
      expect((await register(url, { auth })).status).toBe(201);
    }
  });
});

test.each(["streamable_http", "sse"])("over %s a web page is reported as not an MCP server", async (type) => {
  const page = await serve({
    before: (_request, response) => !!response.writeHead(200, { "content-type": "text/html" }).end("<p>Hello</p>"),
  });
  expect((await register(page.url, { connection_type: type })).body).toMatchObject({
    status: "unreachable",
    last_error: "The server does not answer like an MCP server",
  });
});
