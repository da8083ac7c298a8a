import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type EverythingServer, everythingServer } from "../../../src/engines/tools/everything-server.fixture.ts";
import {
  echoTool,
  initializeResult,
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
async function register(url: string, fields: object = {}): Promise<{ id: string; name: string }> {
  const json = { name: `srv${++servers}`, url, connection_type: "streamable_http", ...fields };
  const made = await t.gantry.call("POST", "/v1/mcp-servers", { json });
  expect(made.status, made.text).toBe(201);
  expect(made.body.status, made.text).toBe("connected");
  return made.body;
}

async function serve(script: Script = {}, fields: object = {}) {
  const server = await scriptedServer(script);
  scripted.push(server);
  return { server, ...(await register(server.url, fields)) };
}

const call = (name: string, args: object = {}): LlmAnswer => ({ calls: [{ name, args }] });
const toolNames = () => (t.llm.requests[0]?.tools ?? []).map((tool) => tool.function.name);

describe.each(["streamable_http", "sse"] as const)("the everything server over %s", (connectionType) => {
  let server: EverythingServer;
  let id: string;
  const name = connectionType === "sse" ? "every-sse" : "every-http";

  beforeAll(async () => {
    server = await everythingServer(connectionType);
    ({ id } = await register(server.url, { name, connection_type: connectionType }));
  });
  afterAll(() => server.kill());

  test("gives a run its tools: text, sums, structure, images, and a slow one", async () => {
    t.llm.script = inTurn(
      {
        calls: [
          { name: `${name}__echo`, args: { message: "hello" } },
          { name: `${name}__get-sum`, args: { a: 19, b: 23 } },
          { name: `${name}__get-structured-content`, args: { location: "Chicago" } },
          { name: `${name}__get-tiny-image`, args: {} },
          { name: `${name}__trigger-long-running-operation`, args: { duration: 1, steps: 4 } },
          { name: `${name}__get-sum`, args: { a: "nineteen" } },
        ],
      },
      { text: "done" },
    );
    const done = await t.run(await t.makeAgent({ mcp_servers: [{ id }] }));
    expect(done.body, done.text).toMatchObject({ status: "done" });
    expect(toolNames()).toEqual(expect.arrayContaining([`${name}__echo`, `${name}__get-sum`]));
    expect(t.offered(`${name}__get-sum`)?.function.parameters).toMatchObject({ required: ["a", "b"] });
    const [echo, sum, structured, image, long, wrong] = t.told(1);
    expect(echo).toBe("Echo: hello");
    expect(sum).toContain("42");
    expect(JSON.parse(structured ?? "")).toMatchObject({ conditions: expect.any(String) });
    expect(image).toMatch(/\[image: image\/png, \d+ bytes\]/);
    expect(long).toContain("completed");
    expect(wrong).toMatch(/arguments are invalid/);
    const results = (await t.events(done.body.id)).filter(({ type }) => type === "tool_result");
    expect(results.map(({ tool }) => tool)).toContain(`${name}__echo`);
  });

  test("limited to some tools, a run has only these, and missing ones are named", async () => {
    t.llm.script = inTurn(call(`${name}__get-env`), { text: "done" });
    const done = await t.run(await t.makeAgent({ mcp_servers: [{ id, tools: ["echo", "no-such"] }] }));
    expect(done.body).toMatchObject({ status: "done" });
    expect(toolNames()).toEqual([`${name}__echo`]);
    expect(t.told(1)[0]).toMatch(/Tool .*get-env.* does not exist/);
    const [first] = await t.events(done.body.id);
    expect(first).toMatchObject({ type: "planning", message: expect.stringContaining(`${name}: no-such`) });
  });

  test("that stops during a run is reported to the model; once back, a new session is opened", async () => {
    const agent = await t.makeAgent({ mcp_servers: [{ id, tools: ["echo"] }] });
    const echo = (message: string) => call(`${name}__echo`, { message });
    t.llm.script = async (_request, n) => {
      if (n === 2) await server.kill();
      if (n === 3) await server.start();
      return [echo("one"), echo("two"), echo("three")][n - 1] ?? { text: "done" };
    };
    const done = await t.run(agent);
    expect(done.body, done.text).toMatchObject({ status: "done" });
    const told = t.told(3);
    expect(told[0]).toBe("Echo: one");
    expect(told[1]).toContain(`The tool server ${name} failed`);
    expect(told[2]).toBe("Echo: three");
  });

  test("that restarts between two calls is reconnected silently", async () => {
    const agent = await t.makeAgent({ mcp_servers: [{ id, tools: ["echo"] }] });
    t.llm.script = async (_request, n) => {
      if (n === 2) {
        await server.kill();
        await server.start();
      }
      return n > 2 ? { text: "done" } : call(`${name}__echo`, { message: String(n) });
    };
    const done = await t.run(agent);
    expect(done.body, done.text).toMatchObject({ status: "done" });
    expect(t.told(2)).toEqual(["Echo: 1", "Echo: 2"]);
  });
});

describe("a lost session", () => {
  test.each([404, 400])("(%i) is reopened once, and the call made once", async (status) => {
    let sessions = 0;
    const lost = new Set<string>();
    const script: Script = {
      before(request, response) {
        const session = String(request.headers["mcp-session-id"] ?? "");
        if (!lost.has(session)) return false;
        request.resume();
        response.writeHead(status, { "content-type": "text/plain" }).end("Bad Request: no valid session");
        return true;
      },
      "on initialize": ({ response, message }) => {
        response.writeHead(200, { "content-type": "application/json", "mcp-session-id": `s${++sessions}` });
        response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: initializeResult }));
      },
      "on tools/call": ({ answer }) => answer(text("called")),
    };
    const { server, id, name } = await serve(script);
    t.llm.script = (_request, n) => {
      if (n === 1) for (let at = 1; at <= sessions; at++) lost.add(`s${at}`);
      return n === 1 ? call(`${name}__echo`) : { text: "done" };
    };
    const done = await t.run(await t.makeAgent({ mcp_servers: [{ id }] }));
    expect(done.body).toMatchObject({ status: "done" });
    expect(t.told(1)).toEqual(["called"]);
    expect(server.messages.filter(({ method }) => method === "tools/call")).toHaveLength(1);
    expect(lost.size + 1).toBe(sessions);
  });
});

describe("what a server does", () => {
  test("a result above 64 kB is truncated for the model, with a mark", async () => {
    const { id, name } = await serve({ "on tools/call": ({ answer }) => answer(text("é".repeat(80_000))) });
    t.llm.script = inTurn(call(`${name}__echo`), { text: "done" });
    const done = await t.run(await t.makeAgent({ mcp_servers: [{ id }] }));
    const [told = ""] = t.told(1);
    expect(Buffer.byteLength(told)).toBeLessThanOrEqual(65_536);
    expect(told).toMatch(/^é+\n\n\[cut: the result has 160000 bytes, these are its first \d+\]$/);
    const event = (await t.events(done.body.id)).find(({ type }) => type === "tool_result");
    expect(event.result).toBe(told);
  });

  test("a result of exactly 64 kB stays whole, unless the note on repeats needs space", async () => {
    const whole = "x".repeat(65_536);
    const { id, name } = await serve({ "on tools/call": ({ answer }) => answer(text(whole)) });
    t.llm.script = (_request, n) => (n <= 4 ? call(`${name}__echo`) : { text: "done" });
    const done = await t.run(await t.makeAgent({ mcp_servers: [{ id }], context_compression: false }));
    expect(done.body, done.text).toMatchObject({ status: "done" });
    const told = t.told(4);
    expect(told.slice(0, 2)).toEqual([whole, whole]);
    for (const [at, result] of told.slice(2).entries()) {
      expect(Buffer.byteLength(result)).toBeLessThanOrEqual(65_536);
      expect(Buffer.byteLength(result)).toBeGreaterThan(65_500);
      expect(result).toMatch(
        new RegExp(`^x+\\n\\[… cut: \\d+ bytes more\\]\\n\\n\\[This very call .* ${at + 3} times in a row`),
      );
    }
    expect(told).toHaveLength(4);
  });

  test("a failure of the tool is reported, and three in a row end the run", async () => {
    const { id, name } = await serve({
      "on tools/call": ({ answer }) => answer({ ...text("out of paper"), isError: true }),
    });
    t.llm.script = () => call(`${name}__echo`, { a: 1 });
    const done = await t.run(await t.makeAgent({ mcp_servers: [{ id }] }));
    expect(done.body).toMatchObject({ status: "error", error: { type: "tool_error" } });
    expect(done.body.error.message).toContain(`${name}__echo`);
    expect(t.told(2)).toEqual(["out of paper", "out of paper"]);
  });

  test("a destructive tool needs a confirmation, or approval in advance", async () => {
    const list = [
      { ...echoTool, name: "wipe", annotations: { destructiveHint: true } },
      { ...echoTool, name: "look", annotations: { readOnlyHint: true } },
    ];
    const { server, id, name } = await serve({
      "on tools/list": ({ answer }) => answer({ tools: list }),
      "on tools/call": ({ message, answer }) => answer(text(`did ${message.params.name}`)),
    });
    const wiped = () => server.messages.filter(({ params }) => params?.name === "wipe").length;
    const agent = await t.makeAgent({ mcp_servers: [{ id }] });
    t.llm.script = () => ({ text: "done" });
    const script = () =>
      inTurn(
        {
          calls: [
            { name: `${name}__look`, args: {} },
            { name: `${name}__wipe`, args: { all: true } },
          ],
        },
        { text: "done" },
      );
    t.llm.script = script();
    const { runId, asked } = await t.runUntilAsked(agent);
    expect(asked).toMatchObject({ tool: `${name}__wipe`, arguments: { all: true } });
    expect(wiped()).toBe(0);
    await t.answer(runId, asked.id, { approve: false });
    expect(await t.ended(runId)).toMatchObject({ status: "done" });
    expect(t.told(1)).toEqual(["did look", expect.stringContaining("denied")]);
    expect(wiped()).toBe(0);
    t.llm.script = script();
    const second = await t.runUntilAsked(agent);
    await t.answer(second.runId, second.asked.id, { approve: true });
    expect(await t.ended(second.runId)).toMatchObject({ status: "done" });
    expect(wiped()).toBe(1);
    t.llm.script = script();
    const waived = await t.run(agent, { approve: [`${name}__wipe`] });
    expect(waived.body).toMatchObject({ status: "done" });
    expect(await t.confirmations(waived.body.id)).toEqual([]);
    expect(wiped()).toBe(2);
  });

  test("cancelling a run notifies the server at once", async () => {
    const { server, id, name } = await serve({ "on tools/call": () => {} });
    t.llm.script = inTurn(call(`${name}__echo`), { text: "done" });
    const started = await t.run(await t.makeAgent({ mcp_servers: [{ id }] }), { wait: 0 });
    const calls = () => server.messages.filter(({ method }) => method === "tools/call");
    await waitFor("the call", () => calls().length === 1);
    const cancelled = await t.gantry.call("POST", `/v1/runs/${started.body.id}/cancel`);
    expect(cancelled.body).toMatchObject({ status: "error", error: { type: "cancelled" } });
    const word = () => server.messages.find(({ method }) => method === "notifications/cancelled");
    await waitFor("the word to the server", () => word() !== undefined);
    expect(word()?.params.requestId).toBe(calls()[0]?.id);
    expect(t.llm.requests).toHaveLength(1);
  });
});

describe("a server that is unreachable at the start", () => {
  test("is named in the first event and to the model, and the run continues without it", async () => {
    const here = await serve({ "on tools/call": ({ answer }) => answer(text("here")) });
    const away = await serve();
    const gone = await serve();
    const agent = await t.makeAgent({ mcp_servers: [{ id: here.id }, { id: away.id }, { id: gone.id }] });
    await away.server.close();
    scripted.splice(scripted.indexOf(away.server), 1);
    const changed = await t.gantry.call("PATCH", `/v1/mcp-servers/${away.id}`, {
      json: { auth: { type: "bearer", token: "t0ken-of-the-creator" } },
    });
    expect(changed.body, changed.text).toMatchObject({ status: "unreachable" });
    expect((await t.gantry.call("DELETE", `/v1/mcp-servers/${gone.id}?force=true`)).status).toBe(204);
    t.llm.script = inTurn(call(`${here.name}__echo`), { text: "done" });
    const done = await t.run(agent);
    expect(done.body, done.text).toMatchObject({ status: "done" });
    const [first] = await t.events(done.body.id);
    expect(first.type).toBe("planning");
    expect(first.message).toContain(`Not available: ${away.name}`);
    expect(first.message).toContain("The server was deleted");
    expect(toolNames()).toEqual([`${here.name}__echo`]);
    expect(t.llm.requests[0]?.messages[0]?.content).toContain(away.name);
    expect(t.told(1)).toEqual(["here"]);
  });
});

describe("a server that stops while a confirmation is open", () => {
  test("is reported by name after the approval, and the run continues", async () => {
    const wipe = { ...echoTool, name: "wipe", annotations: { destructiveHint: true } };
    const { server, id, name } = await serve({ "on tools/list": ({ answer }) => answer({ tools: [wipe] }) });
    t.llm.script = inTurn(call(`${name}__wipe`), { text: "done" });
    const { runId, asked } = await t.runUntilAsked(await t.makeAgent({ mcp_servers: [{ id }] }));
    await server.close();
    scripted.splice(scripted.indexOf(server), 1);
    await t.gantry.call("PATCH", `/v1/mcp-servers/${id}`, { json: { auth: { type: "bearer", token: "another-one" } } });
    await t.answer(runId, asked.id, { approve: true });
    expect(await t.ended(runId)).toMatchObject({ status: "done" });
    expect(t.told(1)[0]).toMatch(new RegExp(`was not called[\\s\\S]*${name}`));
  });
});

describe("a bound tool that its server does not have", () => {
  const offer =
    (...names: string[]): NonNullable<Script["on tools/list"]> =>
    ({ answer }) =>
      answer({ tools: names.map((each) => ({ ...echoTool, name: each })) });

  test("causes a warning from the server's last known list, without a request", async () => {
    const { server, id, name } = await serve({ "on tools/list": offer("echo", "add") });
    server.messages.length = 0;
    const json = { name: "Misspelt", goal: "g", tools: [], mcp_servers: [{ id, tools: ["ecko", "add"] }] };
    const made = await t.gantry.call("POST", "/v1/agents", { json });
    const warning = { field: "mcp_servers", message: expect.stringMatching(`${name} had no tool ecko`) };
    expect(made.body.warnings, made.text).toEqual([warning]);
    const path = `/v1/agents/${made.body.id}`;
    expect((await t.gantry.call("GET", path)).body.warnings).toEqual([warning]);
    expect(server.messages).toEqual([]);

    server.script = { "on tools/list": offer("ecko", "add") };
    await t.gantry.call("GET", `/v1/mcp-servers/${id}/tools`);
    expect((await t.gantry.call("GET", path)).body.warnings).toEqual([]);
    expect((await t.gantry.call("POST", `${path}/publish`, { json: {} })).body.warnings).toEqual([]);
  });

  test("causes no warning if the list is unknown, or if all tools are bound", async () => {
    const { id } = await serve({ "on tools/list": offer("echo") });
    const away = await scriptedServer({ before: (_request, response) => !!response.writeHead(503).end() });
    scripted.push(away);
    const registered = await t.gantry.call("POST", "/v1/mcp-servers", {
      json: { name: "away", url: away.url, connection_type: "streamable_http" },
    });
    const mcp_servers = [{ id }, { id: registered.body.id, tools: ["echo"] }];
    const made = await t.gantry.call("POST", "/v1/agents", { json: { name: "n", goal: "g", tools: [], mcp_servers } });
    expect(made.body.warnings, made.text).toEqual([]);
  });
});

describe("a run by another user", () => {
  const token = "creators-bearer-credential-0123456789";

  test("uses the creator's servers with the creator's credential, which stays hidden", async () => {
    const seen: (string | undefined)[] = [];
    const { server, id, name } = await serve(
      {
        "on tools/call": ({ request, message, answer, response }) => {
          seen.push(request.headers.authorization);
          if (message.params.arguments.fail) return void response.writeHead(500).end(`no: ${token}`);
          answer(text(`You sent ${request.headers.authorization}`));
        },
      },
      { auth: { type: "bearer", token } },
    );
    const agent = await t.makeAgent({ mcp_servers: [{ id }], visibility: "public" });
    t.llm.script = inTurn(call(`${name}__echo`), call(`${name}__echo`, { fail: true }), { text: "done" });
    const done = await t.run(agent, {}, { key: other });
    expect(done.body, done.text).toMatchObject({ status: "done" });
    expect(seen).toEqual([`Bearer ${token}`, `Bearer ${token}`]);
    expect(t.told(1)[0]).toMatch(/^You sent /);
    expect(t.told(2)[1]).toContain("failed");
    const shown = await t.everythingShown(done.body.id, { key: other });
    expect(shown).not.toContain(token);
    const theirs = [JSON.stringify(await t.events(done.body.id, { key: other })), JSON.stringify(t.llm.requests)];
    expect(theirs.join("\n")).not.toContain(server.origin);
    expect((await t.gantry.call("GET", `/v1/mcp-servers/${id}`, { key: other })).status).toBe(404);
  });

  test("does not reveal the address of an unreachable server", async () => {
    const { server, id } = await serve();
    const agent = await t.makeAgent({ mcp_servers: [{ id }], visibility: "public" });
    await server.close();
    scripted.splice(scripted.indexOf(server), 1);
    await t.gantry.call("PATCH", `/v1/mcp-servers/${id}`, { json: { auth: { type: "bearer", token } } });
    const done = await t.run(agent, {}, { key: other });
    expect(done.body, done.text).toMatchObject({ status: "done" });
    const [first] = await t.events(done.body.id, { key: other });
    expect(first.message).toContain("Not available");
    expect(first.message).not.toContain(new URL(server.url).port);
    expect(await t.everythingShown(done.body.id, { key: other })).not.toContain(token);
  });
});
