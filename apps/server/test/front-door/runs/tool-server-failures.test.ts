import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  echoTool,
  json,
  type Script,
  type ScriptedServer,
  scriptedServer,
  text,
} from "../../../src/engines/tools/scripted-server.fixture.ts";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import { inTurn, type LlmAnswer } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

let t: AgentRuns;
let other: string;
const scripted: ScriptedServer[] = [];

beforeAll(async () => {
  t = await startAgentRuns();
  other = await t.gantry.newUser("other");
});
afterAll(() => t.close());
beforeEach(() => {
  t.llm.script = () => ({ text: "done" });
  t.llm.requests.length = 0;
});
afterEach(async () => {
  await Promise.all(scripted.splice(0).map((server) => server.close()));
});

let servers = 0;
async function serve(script: Script = {}, fields: object = {}) {
  const server = await scriptedServer(script);
  scripted.push(server);
  const given = { name: `srv${++servers}`, url: server.url, connection_type: "streamable_http", ...fields };
  const made = await t.gantry.call("POST", "/v1/mcp-servers", { json: given });
  expect(made.body.status, made.text).toBe("connected");
  const { id, name } = made.body as { id: string; name: string };
  return { server, id, name };
}

const call = (name: string, args: object = {}): LlmAnswer => ({ calls: [{ name, args }] });
const recordOf = async (id: string) => (await t.gantry.call("GET", `/v1/mcp-servers/${id}`)).body;

describe("a credential in a server's tool descriptions", () => {
  const secret = "c2VrcmV0OnBhc3N3b3Jk";

  test.each([
    [{ type: "bearer", token: secret }],
    [{ type: "api_key", header: "Authorization", value: `Basic ${secret}` }],
  ])("(%j) is masked everywhere", async (auth) => {
    const telling = ({ authorization = "" }: { authorization?: string | undefined }) => [
      { ...echoTool, description: `You sent ${authorization}` },
      { ...echoTool, name: "other", inputSchema: { properties: { a: { default: authorization.split(" ")[1] } } } },
      { ...echoTool, name: `with-${secret}` },
    ];
    const { id, name } = await serve(
      {
        "on tools/list": ({ answer, request }) => answer({ tools: telling(request.headers) }),
        "on tools/call": ({ answer, request }) =>
          answer(text(`that is ${request.headers.authorization?.split(" ")[1]}`)),
      },
      { auth },
    );
    const listed = await t.gantry.call("GET", `/v1/mcp-servers/${id}/tools`);
    expect(listed.body.tools.map((tool: { name: string }) => tool.name)).toEqual(["echo", "other"]);
    const agent = await t.makeAgent({ mcp_servers: [{ id }], visibility: "public" });
    for (const by of [{}, { key: other }]) {
      t.llm.requests.length = 0;
      t.llm.script = inTurn(call(`${name}__echo`), { text: "done" });
      const done = await t.run(agent, {}, by);
      expect(done.body, done.text).toMatchObject({ status: "done" });
      expect(t.told(1)).toEqual(["that is [hidden]"]);
      expect(t.offered(`${name}__echo`)?.function).toMatchObject({ description: expect.stringContaining("[hidden]") });
      expect(await t.everythingShown(done.body.id, by)).not.toContain(secret);
    }
    expect(listed.text).not.toContain(secret);
  });
});

describe("slow calls to a server", () => {
  const slow = 4;

  test("do not block its tools for another run, or an approved call", async () => {
    const held: (() => void)[] = [];
    const { server, id, name } = await serve({
      "on tools/list": ({ answer }) =>
        answer({ tools: [echoTool, { ...echoTool, name: "wipe", annotations: { destructiveHint: true } }] }),
      "on tools/call": ({ answer, message }) => {
        const end = () => answer(text(`${message.params.name} done`));
        if (message.params.arguments.slow) held.push(end);
        else end();
      },
    });
    const agent = await t.makeAgent({ mcp_servers: [{ id }] });
    t.llm.script = () => call(`${name}__wipe`);
    const { runId, asked } = await t.runUntilAsked(agent);
    t.llm.script = inTurn(
      { calls: Array.from({ length: slow }, (_, n) => ({ name: `${name}__echo`, args: { slow: n + 1 } })) },
      { text: "done" },
    );
    const busy = await t.run(agent, { wait: 0 });
    await waitFor("the slow calls", () => held.length === slow);

    t.llm.requests.length = 0;
    t.llm.script = () => ({ text: "done" });
    const began = Date.now();
    const beside = await t.run(agent);
    expect(beside.body, beside.text).toMatchObject({ status: "done" });
    expect(t.offered(`${name}__echo`)).toBeDefined();
    expect(Date.now() - began).toBeLessThan(10_000);

    await t.answer(runId, asked.id, { approve: true });
    await waitFor("the approved call to be waiting", async () => {
      const types = (await t.events(runId)).map(({ type }) => type);
      return types.includes("tool_call");
    });
    for (const end of held) end();
    expect(await t.ended(runId)).toMatchObject({ status: "done" });
    expect(await t.ended(busy.body.id)).toMatchObject({ status: "done" });
    expect(server.messages.filter(({ params }) => params?.name === "wipe")).toHaveLength(1);
  });

  test("an approved call of an unreachable server is not reported as a missing tool", async () => {
    const { server, id, name } = await serve({
      "on tools/list": ({ answer }) => answer({ tools: [{ ...echoTool, annotations: { destructiveHint: true } }] }),
    });
    t.llm.script = () => call(`${name}__echo`);
    const { runId, asked } = await t.runUntilAsked(await t.makeAgent({ mcp_servers: [{ id }] }));
    t.llm.script = () => ({ text: "done" });
    t.llm.requests.length = 0;
    await server.close();
    scripted.splice(scripted.indexOf(server), 1);
    // Its list is fetched again.
    await t.gantry.call("PATCH", `/v1/mcp-servers/${id}`, { json: { auth: null } });
    await t.answer(runId, asked.id, { approve: true });
    expect(await t.ended(runId)).toMatchObject({ status: "done" });
    expect(t.told(0)[0]).toContain("did not answer, so the tool was not called");
  });
});

test("unsupported schemas are left to the server; others are checked", async () => {
  const schemas: Record<string, object> = {
    draft4: { $schema: "http://json-schema.org/draft-04/schema#", type: "object" },
    python: { type: "object", properties: { a: { type: "string", pattern: "(?P<x>[a-z]+)" } } },
    required: { type: "object", properties: { a: { type: "string", required: true } } },
    nowhere: { type: "object", properties: { a: { $ref: "#/nope" } } },
    format: { type: "object", properties: { a: { type: "string", format: "uri" } } },
    plain: { type: "object", properties: { a: { type: "number" } } },
  };
  const { id, name } = await serve({
    "on tools/list": ({ answer }) =>
      answer({ tools: Object.entries(schemas).map(([tool, inputSchema]) => ({ name: tool, inputSchema })) }),
    "on tools/call": ({ answer, message }) => answer(text(`called ${message.params.name}`)),
  });
  t.llm.script = inTurn(
    { calls: Object.keys(schemas).map((tool) => ({ name: `${name}__${tool}`, args: { a: "abc" } })) },
    { text: "done" },
  );
  const done = await t.run(await t.makeAgent({ mcp_servers: [{ id }] }));
  expect(done.body, done.text).toMatchObject({ status: "done" });
  const told = t.told(1);
  expect(told.slice(0, 5)).toEqual(["draft4", "python", "required", "nowhere", "format"].map((one) => `called ${one}`));
  expect(told[5]).toMatch(/arguments are invalid/);
});

test("a server's refusal of a call reaches the model and does not change the server's status", async () => {
  const error = { code: -32_602, message: "Invalid params: the field city is missing" };
  const { id, name } = await serve({
    "on tools/call": ({ response, message }) => {
      if (message.params.arguments.n === 1) json(response, { jsonrpc: "2.0", id: message.id, error }, 400);
      else if (message.params.arguments.n === 2) response.writeHead(429).end("slow down");
      else json(response, { jsonrpc: "2.0", id: message.id, result: { content: [], isError: true } });
    },
  });
  const echo = (n: number) => ({ name: `${name}__echo`, args: { n } });
  t.llm.script = inTurn({ calls: [echo(1), echo(2), echo(3)] }, { text: "done" });
  const done = await t.run(await t.makeAgent({ mcp_servers: [{ id }] }));
  expect(done.body, done.text).toMatchObject({ status: "done" });
  expect(t.told(1)).toEqual([
    error.message,
    expect.stringContaining("status 429: slow down"),
    "The tool failed without a reason.",
  ]);
  expect(await recordOf(id)).toMatchObject({ status: "connected", last_error: null });
});

test("a flood of messages is refused, and the run continues", async () => {
  const { server, id, name } = await serve();
  server.script = {
    "on tools/call": ({ response }) =>
      response.writeHead(200, { "content-type": "text/event-stream" }).end("data: {}\n\n".repeat(500_000)),
  };
  t.llm.script = inTurn(call(`${name}__echo`), { text: "done" });
  const done = await t.run(await t.makeAgent({ mcp_servers: [{ id }] }));
  expect(done.body, done.text).toMatchObject({ status: "done" });
  expect(t.told(1)[0]).toContain("The server sends too many messages");
});
