import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import type { CallToolResult, Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type AgentsUnderTest, agentsUnderTest } from "../../../test/support/agents.ts";
import { connectMcp } from "../../../test/support/mcp-client.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { objectParameters } from "../../engines/models/text/tool-parameters.ts";
import { createNet } from "../../engines/net/create-net.ts";
import type { Net } from "../../engines/net/net.ts";
import { createAesVault } from "../../engines/vault/aes-vault.ts";
import { openIdpConnector } from "../../features/connectors/idp/index.ts";
import { type AgentRunEnd, type McpTools, openMcpTools, type RunAgent } from "../../features/mcp-tools/index.ts";
import { systemClock } from "../../kernel/clock.ts";
import { fault } from "../../kernel/errors.ts";
import { createLog } from "../../kernel/log.ts";
import { mcpApi } from "./mcp-api.ts";

type Asked = Parameters<RunAgent>[1] & { username: string };

let under: AgentsUnderTest;
let net: Net;
let tools: McpTools;
let ann: Client;
let asked: Asked[] = [];
let end: () => Promise<AgentRunEnd>;

const notHere = () => {
  throw new Error("no model is called here");
};
const figures = {
  runId: "run_1",
  costMicros: 2500,
  usage: { inputTokens: 3, outputTokens: 2, cachedTokens: 1, cacheWriteTokens: 4 },
};
const goal = "Tell the weather of {{city}}.";
const input_schema = { type: ["object", "null"], properties: { city: { type: "string" } }, required: ["city"] };

async function publish(who: string, fields: object): Promise<string> {
  const id = await under.makeAgent(who, { goal, input_schema, model: "gantry/rules", ...fields });
  expect((await under.call("POST", `/v1/agents/${id}/publish`, who, {})).status).toBe(200);
  return id;
}

const agentsOf = async (client: Client) =>
  (await client.listTools()).tools.filter(({ name }) => name.startsWith("agent_"));

beforeAll(async () => {
  under = await agentsUnderTest({ drives: { ann: ["drv_ann"] }, toolServers: { ann: ["mcp_ann"] } });
  net = createNet({ allowPrivateNetwork: false });
  const { database, accounts, models, agents, app } = under;
  const log = createLog("silent");
  tools = await openMcpTools({
    database,
    log,
    models,
    agents,
    predictions: { look: notHere, run: notHere },
    readInput: notHere,
    linksOf: notHere,
    openOutput: notHere,
    linkOf: notHere,
    objectParameters,
    // One that does not answer: what real ones have is looked at in test/front-door/mcp/agents.test.ts.
    toolServers: {
      describeTools: async (_ownerId, bindings) => ({
        tools: [],
        missing: bindings.map(({ id }) => ({ serverId: id, serverName: "away", reason: "It does not answer" })),
      }),
    },
    idp: openIdpConnector({ database, vault: createAesVault(randomBytes(32)), net, clock: systemClock, log }),
    runAgent: (caller, request) => {
      asked.push({ ...request, username: caller.username });
      return end();
    },
  });
  await app.register(mcpApi, {
    log,
    authenticate: accounts.authenticate,
    tools,
    publicUrl: undefined,
    corsOrigins: [],
    version: "7.8.9",
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const key = await under.newUser("ann");
  await under.newUser("bob");
  ann = await connectMcp(addressOf(), key);
});

beforeEach(() => {
  asked = [];
  end = async () => ({ ...figures, status: "done", output: { report: "sun" } });
});

afterAll(async () => {
  await ann.close();
  await tools.close();
  await under.close();
  await net.close();
});

const addressOf = () => `http://127.0.0.1:${(under.app.server.address() as AddressInfo).port}`;

function textOf(result: CallToolResult): string {
  const [first] = result.content;
  return first?.type === "text" ? first.text : "";
}

test("the server names its version", () => {
  expect(ann.getServerVersion()).toMatchObject({ name: "gantry", version: "7.8.9" });
});

test("the caller's own published agents are offered, and nothing that may ask", async () => {
  await publish("ann", { name: "Weather", pricing: { per_run: 0.25 } });
  await publish("ann", {
    name: "Plain",
    tools: ["http_request", "drive_read"],
    drives: ["drv_ann"],
    description: "Reads pages",
  });
  await publish("ann", { name: "Never", tools: [{ type: "tool", id: "drive_delete", confirm: "never" }] });
  await under.makeAgent("ann", { name: "Unpublished" });
  await publish("ann", { name: "Deleting", tools: ["drive_delete"] });
  await publish("ann", { name: "Writing", tools: ["idp_user_delete"] });
  await publish("ann", { name: "Serving", mcp_servers: [{ id: "mcp_ann" }] });
  await publish("ann", { name: "Careful", tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] });
  await publish("bob", { name: "Public", visibility: "public" });
  const offered = await agentsOf(ann);
  const names = offered.map(({ name }) => name).sort();
  expect(names).toEqual(["agent_never", "agent_plain", "agent_weather"]);
  expect(offered.find(({ name }) => name === "agent_weather")).toEqual({
    name: "agent_weather",
    title: "Weather",
    description: `Runs your agent Weather and waits for its result. Its goal: ${goal} You pay for the models that it calls.`,
    inputSchema: { ...input_schema, type: "object" },
    annotations: { readOnlyHint: false, openWorldHint: true },
  });
  expect(offered.find(({ name }) => name === "agent_plain")?.description).toBe(
    "Runs your agent Plain and waits for its result. Reads pages. You pay for the models that it calls.",
  );
  for (const name of ["agent_deleting", "agent_unpublished", "agent_public"]) {
    await expect(ann.callTool({ name, arguments: {} })).rejects.toMatchObject({ code: -32_602 });
  }
  const unknown = await ann.callTool({ name: "agent_serving", arguments: {} });
  expect([unknown.isError, textOf(unknown)]).toEqual([true, expect.stringMatching(/tool server .* does not answer/)]);
  expect(asked).toEqual([]);
});

test("what counts is the published revision, not the latest", async () => {
  const id = await publish("ann", { name: "Twofold" });
  expect((await under.call("PATCH", `/v1/agents/${id}`, "ann", { tools: ["drive_delete"] })).status).toBe(200);
  expect((await agentsOf(ann)).map(({ name }) => name)).toContain("agent_twofold");
  expect((await under.call("POST", `/v1/agents/${id}/publish`, "ann", {})).status).toBe(200);
  expect((await agentsOf(ann)).map(({ name }) => name)).not.toContain("agent_twofold");
});

test("a call runs the revision that was looked at, with the arguments as input", async () => {
  const id = await publish("ann", { name: "Called" });
  const { published_revision_id: revisionId } = (await under.call("GET", `/v1/agents/${id}`, "ann")).body;
  const result = await ann.callTool({ name: "agent_called", arguments: { city: "Rome" } });
  expect(result).toMatchObject({ isError: false, structuredContent: { report: "sun" } });
  expect(JSON.parse(textOf(result))).toEqual({ report: "sun" });
  expect(result._meta).toMatchObject({
    "gantry/run_id": "run_1",
    "gantry/price": 0.0025,
    "gantry/usage": { input_tokens: 3, output_tokens: 2, cached_tokens: 1, cache_write_tokens: 4 },
  });
  const request = { agentId: id, revisionId, input: { city: "Rome" }, baseUrl: addressOf(), username: "ann" };
  expect(asked).toMatchObject([request]);
});

test("agents with the same long name get different tool names", async () => {
  const ids = [await publish("ann", { name: "y".repeat(100) }), await publish("ann", { name: "y".repeat(100) })];
  const names = (await agentsOf(ann)).map(({ name }) => name).filter((name) => name.startsWith("agent_yyy"));
  expect(names.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))).toBe(true);
  for (const name of names) expect((await ann.callTool({ name, arguments: {} })).isError).toBe(false);
  expect(asked.map(({ agentId }) => agentId).sort()).toEqual(ids.sort());
});

test("failed, running and refused runs are reported as such", async () => {
  await publish("ann", { name: "Ending" });
  const call = () => ann.callTool({ name: "agent_ending", arguments: {} });
  end = async () => ({ ...figures, status: "error", error: { type: "timeout", message: "It took too long" } });
  const failed = await call();
  expect([failed.isError, textOf(failed)]).toEqual([true, "The run failed (timeout): It took too long"]);
  end = async () => ({ ...figures, status: "running" });
  const running = await call();
  expect(running).toMatchObject({ isError: false, structuredContent: { run_id: "run_1", status: "running" } });
  expect(textOf(running)).toContain("/v1/runs/run_1");
  end = async () => {
    throw fault("insufficient_funds", "Insufficient funds");
  };
  expect(textOf(await call())).toBe("Insufficient funds");
  end = async () => {
    throw new Error("a secret of ours");
  };
  const broken = await call();
  expect(broken.isError).toBe(true);
  expect(JSON.stringify(broken)).not.toContain("secret");
});

test("a client that cancels or leaves ends its waiting", async () => {
  await publish("ann", { name: "Waiting" });
  end = () =>
    new Promise((_resolve, reject) => {
      const { signal } = asked.at(-1) as Asked;
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  const cancelling = new AbortController();
  const call = { name: "agent_waiting", arguments: {} };
  const first = ann.callTool(call, { signal: cancelling.signal });
  await waitFor("the run", () => asked.length === 1);
  cancelling.abort();
  await expect(first).rejects.toThrow();
  await waitFor("the first to be aborted", () => asked[0]?.signal.aborted === true);
  const leaving = await connectMcp(addressOf(), await under.newUser("ann"));
  const second = leaving.callTool(call);
  second.catch(() => {});
  await waitFor("the run", () => asked.length === 2);
  await leaving.close();
  await waitFor("the second to be aborted", () => asked[1]?.signal.aborted === true);
});
