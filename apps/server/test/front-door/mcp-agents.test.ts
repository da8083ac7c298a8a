import type { CallToolResult, Client, Progress } from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { selfSigned } from "../../src/engines/net/self-signed.fixture.ts";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { serveTenant, type TenantServer } from "../../src/features/connectors/idp/tenant-server.fixture.ts";
import { type AgentRuns, startAgentRuns } from "../support/agent-runs.ts";
import { connectMcp, eras } from "../support/mcp-client.ts";
import { inTurn } from "../support/scripted-llm.ts";
import { waitFor } from "../support/wait-for.ts";

let t: AgentRuns;
let tenant: TenantServer;
let ann: string;
const clients: Client[] = [];

beforeAll(async () => {
  [t, tenant] = await Promise.all([startAgentRuns(), serveTenant(selfSigned)]);
  ann = await t.gantry.newUser("ann");
});
afterAll(async () => {
  await t.close();
  await tenant.close();
});
beforeEach(() => {
  t.llm.script = () => ({ text: "done" });
  t.llm.requests.length = 0;
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  expect(await verifyLedger(t.gantry.database)).toEqual([]);
});

async function connect(key = ann, mode: (typeof eras)[number] = "legacy"): Promise<Client> {
  const client = await connectMcp(t.gantry.url, key, { mode });
  clients.push(client);
  return client;
}

async function agentNames(client: Client): Promise<string[]> {
  const { tools } = await client.listTools();
  return tools.map(({ name }) => name).filter((name) => name.startsWith("agent_"));
}

function textOf(result: CallToolResult): string {
  const [first] = result.content;
  return first?.type === "text" ? first.text : "";
}

const annsRuns = async () => (await t.gantry.call("GET", "/v1/runs", { key: ann })).body;
const balance = async () => (await t.gantry.call("GET", "/api/v2/me", { key: ann })).body.balance as number;

const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const weather = { goal: "Tell the weather of {{city}}.", input_schema: city };

describe.each(eras)("a client that shakes hands by %j", (mode) => {
  const era = mode === "legacy" ? "Old" : "New";
  const tool = `agent_${era.toLowerCase()}-weather`;

  test("is offered a published agent with its input schema, runs it, and pays for it as a run", async () => {
    const id = await t.makeAgent({ name: `${era} weather`, tools: ["run_javascript"], ...weather }, { key: ann });
    const client = await connect(ann, mode);
    const offered = (await client.listTools()).tools.find(({ name }) => name === tool);
    expect(offered).toMatchObject({ title: `${era} weather`, inputSchema: city });
    expect(offered?.description).toContain("Tell the weather of {{city}}.");
    t.llm.script = inTurn(
      { calls: [{ name: "run_javascript", args: { code: "20 + 1" } }] },
      { text: '{"degrees": 21}', usage: { in: 200, out: 30 } },
    );
    const before = await balance();
    const result = await client.callTool({ name: tool, arguments: { city: "Rome" } });
    expect(result.isError, textOf(result)).toBe(false);
    expect(result.structuredContent).toEqual({ degrees: 21 });
    expect(JSON.parse(textOf(result))).toEqual({ degrees: 21 });
    expect(t.llm.requests[0]?.messages.at(-1)?.content).toContain("Tell the weather of Rome.");
    const { runs } = await annsRuns();
    expect(runs[0]).toMatchObject({
      agent_id: id,
      status: "done",
      input: { city: "Rome" },
      output: { degrees: 21 },
      cost: 0.0007,
    });
    expect(result._meta).toMatchObject({
      "gantry/run_id": runs[0].id,
      "gantry/price": 0.0007,
      "gantry/usage": { input_tokens: 300, output_tokens: 40, cached_tokens: 0 },
    });
    expect(before - (await balance())).toBeCloseTo(0.0007, 6);
    const usage = (await t.gantry.call("GET", "/api/v2/usage?page_size=2", { key: ann })).body.results;
    expect(usage).toMatchObject([{ route: "agent" }, { route: "agent" }]);
  });

  test("is told what is wrong with the input, and how a run failed", async () => {
    const client = await connect(ann, mode);
    const { total } = await annsRuns();
    const wrong = await client.callTool({ name: tool, arguments: { city: 7 } });
    expect([wrong.isError, textOf(wrong)]).toEqual([true, expect.stringMatching(/city/)]);
    expect((await annsRuns()).total).toBe(total);
    t.llm.script = () => ({ calls: [{ name: "run_javascript", args: { code: "throw 1" } }] });
    const failed = await client.callTool({ name: tool, arguments: { city: "Rome" } });
    expect([failed.isError, textOf(failed)]).toEqual([true, expect.stringMatching(/^The run failed \(tool_error\)/)]);
    expect(failed._meta).toMatchObject({ "gantry/error": { type: "tool_error" } });
    expect((await annsRuns()).runs[0]).toMatchObject({ status: "error", error: { type: "tool_error" } });
  });

  test("that cancels its call cancels the run, and the model is left at once", async () => {
    const client = await connect(ann, mode);
    t.llm.script = () => new Promise(() => {});
    const cancelling = new AbortController();
    const call = client.callTool({ name: tool, arguments: { city: "Rome" } }, { signal: cancelling.signal });
    call.catch(() => {});
    await waitFor("the model to be called", () => t.llm.open === 1);
    cancelling.abort();
    await expect(call).rejects.toThrow();
    await waitFor("the upstream call to be closed", () => t.llm.open === 0);
    await waitFor("the run to end", async () => (await annsRuns()).runs[0].phase === "ended");
    expect((await annsRuns()).runs[0]).toMatchObject({ status: "error", error: { type: "cancelled" } });
  });

  test("that leaves cancels the run, too", async () => {
    const client = await connect(ann, mode);
    t.llm.script = () => new Promise(() => {});
    client.callTool({ name: tool, arguments: { city: "Rome" } }).catch(() => {});
    await waitFor("the model to be called", () => t.llm.open === 1);
    await client.close();
    await waitFor("the upstream call to be closed", () => t.llm.open === 0);
    await waitFor("the run to end", async () => (await annsRuns()).runs[0].phase === "ended");
    expect((await annsRuns()).runs[0]).toMatchObject({ error: { type: "cancelled" } });
  });

  test("that asks for progress hears what the run does", async () => {
    const client = await connect(ann, mode);
    const heard: Progress[] = [];
    t.llm.script = async (_request, n) => {
      if (n === 1) return { text: "Let me see.", calls: [{ name: "run_javascript", args: { code: "1" } }] };
      await waitFor("the client to hear of it", () => heard.some(({ message }) => message?.includes("run_javascript")));
      return { text: "done" };
    };
    const onprogress = (progress: Progress) => void heard.push(progress);
    const result = await client.callTool({ name: tool, arguments: { city: "Rome" } }, { onprogress });
    expect(result.isError, textOf(result)).toBe(false);
    const said = heard.map(({ message }) => message).join("\n");
    expect(said).toContain("Let me see.");
    expect(said).toContain("Calling run_javascript");
    expect(heard.map(({ progress }) => progress)).toEqual(heard.map((_, at) => at + 1));
  });
});

describe("what is not offered", () => {
  test("agents that are not published, that may ask, that are another's, or that the key could not run", async () => {
    const drive = (await t.gantry.call("POST", "/v1/drives", { key: ann, json: { name: "D" } })).body.id;
    const by = { key: ann };
    await t.makeAgent({ name: "Plain one" }, by);
    await t.makeAgent({ name: "Deleting", tools: ["drive_delete"], drives: [drive] }, by);
    await t.makeAgent({ name: "Tenant", tools: ["idp_role_delete"] }, by);
    await t.makeAgent({ name: "Careful", tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] }, by);
    await t.makeAgent({ name: "Of another", visibility: "public" });
    const json = { name: "Draft", goal: "x", tools: [], model: "admin/llm" };
    expect((await t.gantry.call("POST", "/v1/agents", { ...by, json })).status).toBe(201);
    const client = await connect();
    const names = await agentNames(client);
    expect(names).toContain("agent_plain-one");
    for (const name of ["agent_deleting", "agent_tenant", "agent_careful", "agent_of-another", "agent_draft"]) {
      expect(names).not.toContain(name);
      await expect(client.callTool({ name, arguments: {} })).rejects.toMatchObject({ code: -32_602 });
    }
    const made = await t.gantry.call("POST", "/api/v2/keys", { ...by, json: { models: ["gantry/text"] } });
    const confined = await connect(made.body.key);
    expect(await agentNames(confined)).toEqual([]);
    await expect(confined.callTool({ name: "agent_plain-one", arguments: {} })).rejects.toMatchObject({
      code: -32_602,
    });
    const reaching = await t.gantry.call("POST", "/api/v2/keys", { ...by, json: { models: ["admin/llm"] } });
    expect(await agentNames(await connect(reaching.body.key))).toContain("agent_plain-one");
    expect(t.llm.requests).toEqual([]);
  });

  test("a draft that is newer than what is published is not what runs", async () => {
    const id = await t.makeAgent({ name: "Twofold", goal: "The first." }, { key: ann });
    const changed = await t.gantry.call("PATCH", `/v1/agents/${id}`, { key: ann, json: { goal: "The second." } });
    expect(changed.status).toBe(200);
    const client = await connect();
    expect((await client.callTool({ name: "agent_twofold", arguments: {} })).isError).toBe(false);
    expect(JSON.stringify(t.llm.requests)).toContain("The first.");
    expect(JSON.stringify(t.llm.requests)).not.toContain("The second.");
  });

  test("without funds a run is refused, and told as such", async () => {
    const poor = await t.gantry.newUser("poor", { credit: 0 });
    await t.makeAgent({ name: "Poor" }, { key: poor });
    await t.gantry.call("POST", "/api/v2/admin/users/poor/credits", { json: { amount: -1, reason: "test" } });
    const client = await connect(poor);
    const result = await client.callTool({ name: "agent_poor", arguments: {} });
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringMatching(/funds/i)]);
    expect(t.llm.requests).toEqual([]);
  });
});

describe("the identity connector", () => {
  test("its reads are offered beside the agents, and an agent reads with them", async () => {
    const set = await t.gantry.call("PUT", "/v1/connectors/idp", {
      key: ann,
      json: { domain: tenant.domain, token: tenant.issue(["read:users", "read:roles"]) },
    });
    expect(set.status, set.text).toBe(200);
    await t.makeAgent({ name: "Reader", tools: ["idp_users_list"] }, { key: ann });
    const client = await connect();
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["idp_users_list", "idp_roles_list", "agent_reader"]));
    expect(names).not.toContain("idp_user_create");
    const direct = await client.callTool({ name: "idp_users_list", arguments: {} });
    expect(textOf(direct)).toContain("ann@example.com");
    expect(textOf(direct)).not.toContain("ya29.upstream");
    t.llm.script = inTurn({ calls: [{ name: "idp_users_list", args: {} }] }, { text: "three users" });
    const result = await client.callTool({ name: "agent_reader", arguments: {} });
    expect(result.structuredContent).toEqual({ text: "three users" });
    expect(t.told(1)[0]).toContain("ann@example.com");
  });
});
