import { afterEach, describe, expect, test } from "vitest";
import { type ScriptedServer, scriptedServer, text } from "../../../src/engines/tools/scripted-server.fixture.ts";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, type LlmAnswer, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, run, start, ended, events } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const asked = () => platform.llm.requests;

const open: ScriptedServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

/** A server of the creator with one tool that needs a confirmation. */
async function serve(name: string, key: string) {
  const inputSchema = { type: "object" };
  const annotations = { destructiveHint: true, readOnlyHint: false };
  const server = await scriptedServer({
    "on tools/list": (exchange) =>
      exchange.answer({ tools: [{ name: "wipe", description: "Wipes", inputSchema, annotations }] }),
    "on tools/call": (exchange) => exchange.answer(text("wiped")),
  });
  open.push(server);
  const json = { name, url: server.url, connection_type: "streamable_http" };
  const { body } = await call("POST", "/v1/mcp-servers", { key, json });
  expect(body.status, JSON.stringify(body)).toBe("connected");
  return { server, id: body.id as string };
}

const calling = (name: string, args: object = {}): LlmAnswer => ({ calls: [{ name, args }] });
const shownTo = async (runId: string, key: string) => {
  const path = `/v1/runs/${runId}/trace`;
  const trace = (await call("GET", path, { key })).body;
  const steps: unknown[] = [];
  for (const { id } of trace.steps) steps.push((await call("GET", `${path}/${id}`, { key })).body);
  return JSON.stringify([await platform.read(runId, key), await events(runId, key), trace, steps]);
};

describe("a caller of another user's agent does not learn", () => {
  test("the names of unreachable servers and tools, from the platform or the model", async () => {
    const [creator, caller] = [await platform.newUser(), await platform.newUser()];
    const [used, payroll] = [await serve("tools", creator.key), await serve("acme-payroll", creator.key)];
    const servers = [{ id: used.id }, { id: payroll.id, tools: ["wipe", "secret_ledger"] }];
    const agent = await makeAgent({ visibility: "public", mcp_servers: servers }, creator.key);
    platform.llm.script = (request) => {
      const results = toolResults(request);
      // The model repeats everything it knows.
      return results.length === 0
        ? calling("tools__wipe")
        : { text: `${request.messages[0]?.content} ${results.join(" | ")}` };
    };
    const asking = async (key: string) => {
      const id = await start(agent, {}, { key });
      await waitFor("the question", async () => (await platform.read(id, key)).phase === "awaiting_confirmation");
      const path = `/v1/runs/${id}/confirmations`;
      const [question] = (await call("GET", path, { key })).body.confirmations;
      return { id, approve: () => call("POST", `${path}/${question.id}`, { key, json: { approve: true } }) };
    };
    const [theirs, own] = [await asking(caller.key), await asking(creator.key)];
    await payroll.server.close();
    await call("DELETE", `/v1/mcp-servers/${used.id}?force=true`, { key: creator.key });
    await Promise.all([theirs.approve(), own.approve()]);
    expect(await ended(theirs.id, caller.key)).toMatchObject({ status: "done" });
    const shown = await shownTo(theirs.id, caller.key);
    expect(shown).toContain("The tool no longer exists, so it was not called.");
    expect(shown).toContain("Not available now: 2 of the agent's tools");
    expect(shown).not.toMatch(/acme|payroll|ledger|server/);
    await ended(own.id, creator.key);
    expect(await shownTo(own.id, creator.key)).toContain("acme-payroll");
  });

  test("which tools exist when the model calls an unknown one", async () => {
    const [creator, caller] = [await platform.newUser(), await platform.newUser()];
    const { id } = await serve("acme-crm", creator.key);
    const agent = await makeAgent({ visibility: "public", mcp_servers: [{ id }] }, creator.key);
    platform.llm.script = inTurn(calling("no_such_tool"), { text: "done" });
    const theirs = await run(agent, {}, caller);
    const shown = await shownTo(theirs.body.id, caller.key);
    expect(shown).toContain("does not exist");
    expect(shown).not.toContain("acme-crm");
    platform.llm.script = inTurn(calling("no_such_tool"), { text: "done" });
    const own = await run(agent, {}, creator);
    expect(await shownTo(own.body.id, creator.key)).toContain("acme-crm__wipe");
  });

  test("how a server failed", async () => {
    const [creator, caller] = [await platform.newUser(), await platform.newUser()];
    const { id, server } = await serve("acme-erp", creator.key);
    server.script["on tools/call"] = ({ response }) => response.writeHead(418).end();
    const agent = await makeAgent({ visibility: "public", mcp_servers: [{ id }] }, creator.key);
    const script = () => inTurn(calling("acme-erp__wipe"), { text: "done" });
    const approve = { approve: ["acme-erp__wipe"] };
    platform.llm.script = script();
    await run(agent, approve, caller);
    expect(toolResults(asked().at(-1))).toEqual(["The tool could not be reached. It did not run."]);
    server.script["on tools/call"] = ({ response }) => response.destroy();
    platform.llm.script = script();
    await run(agent, approve, caller);
    const [theirs = ""] = toolResults(asked().at(-1));
    expect(theirs).toContain("is unknown");
    expect(theirs).not.toMatch(/\bacme\b/);
    platform.llm.script = script();
    await run(agent, approve, creator);
    expect(toolResults(asked().at(-1))[0]).toContain("The tool server acme-erp failed");
  });

  test("the ids of the creator's drives", async () => {
    const [creator, caller] = [await platform.newUser(), await platform.newUser()];
    const made = await call("POST", "/v1/drives", { key: creator.key, json: { name: "notes" } });
    const drive: string = made.body.id;
    const tools = ["drive_list", "run_model"];
    const agent = await makeAgent({ visibility: "public", tools, drives: [drive] }, creator.key);
    const image = `drive:drv_x/a.png`;
    const script = () =>
      inTurn(
        {
          calls: [
            { name: "drive_list", args: { path: "/", drive_id: "drv_x" } },
            { name: "run_model", args: { model: "gantry/image", input: { prompt: "a hill", image } } },
          ],
        },
        { text: "done" },
      );
    platform.llm.script = script();
    const theirs = await run(agent, {}, caller);
    expect(theirs.body.status).toBe("done");
    for (const result of toolResults(asked().at(-1))) expect(result).toContain("does not have this drive");
    expect(await shownTo(theirs.body.id, caller.key)).not.toContain(drive);
    expect(JSON.stringify(asked())).not.toContain(drive);
    platform.llm.script = script();
    const own = await run(agent, {}, creator);
    expect((await shownTo(own.body.id, creator.key)).split(drive).length).toBeGreaterThan(2);
  });
});
