import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scriptedServer } from "../../../src/engines/tools/scripted-server.fixture.ts";
import type { TenantServer } from "../../../src/features/connectors/idp/tenant-server.fixture.ts";
import type { GantryNode } from "../../support/gantry.ts";
import { allScopes } from "../../support/idp-connector.ts";
import { type RunsWithTenant, startRunsWithTenant } from "../../support/runs-with-tenant.ts";

/** Warnings reflect the present, not the moment when the agent was saved. */

let platform: RunsWithTenant;
let gantry: GantryNode;
let tenant: TenantServer;
beforeAll(async () => {
  platform = await startRunsWithTenant();
  ({
    t: { gantry },
    tenant,
  } = platform);
});
afterAll(() => platform.close());

async function must(method: string, path: string, json?: object) {
  const answer = await gantry.call(method, path, json && { json });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

let agents = 0;
const makeAgent = async (fields: object = {}): Promise<string> =>
  (await must("POST", "/v1/agents", { name: `Agent ${++agents}`, goal: "g", tools: [], ...fields })).id;
const publish = (id: string, json: object = {}) => must("POST", `/v1/agents/${id}/publish`, json);
/** From the agent itself; the list of agents must show the same. */
async function warningsOf(id: string): Promise<unknown[]> {
  const { warnings } = await must("GET", `/v1/agents/${id}`);
  const { agents: listed } = await must("GET", "/v1/agents?limit=100");
  expect(listed.find((agent: { id: string }) => agent.id === id).warnings).toEqual(warnings);
  return warnings;
}

describe("a sub-agent", () => {
  test("that is not published yet, is published, and is deleted", async () => {
    const kid = await makeAgent({ name: "Kid" });
    const parent = await makeAgent({ tools: [{ type: "agent", agent_id: kid }] });
    expect(await warningsOf(parent)).toEqual([{ field: "tools", message: "The agent kid is not published yet" }]);
    expect((await publish(parent)).warnings).toHaveLength(1);

    await publish(kid);
    expect(await warningsOf(parent)).toEqual([]);
    expect((await publish(parent)).warnings).toEqual([]);

    await must("DELETE", `/v1/agents/${kid}`);
    const gone = [{ field: "tools", message: `Agent ${kid} does not exist, or you may not call it` }];
    expect(await warningsOf(parent)).toEqual(gone);
    expect((await publish(parent)).warnings).toEqual(gone);
  });
});

describe("warnings about the agent's own fields", () => {
  test("last until the fields change", async () => {
    const agent = await makeAgent({
      goal: "Greet {{name}} in {{place}}.",
      input_schema: { type: "object", properties: { name: { type: "string" } }, additionalProperties: false },
      output_schema: { type: "array" },
    });
    expect(await warningsOf(agent)).toEqual([
      { field: "goal", message: expect.stringContaining("place") },
      { field: "output_schema", message: expect.stringContaining("object") },
    ]);
  });
});

describe("the identity connector", () => {
  const tools = ["idp_users_list", { type: "tool", id: "idp_user_delete" }];

  test("that an identity tool needs is missing, or its token has expired", async () => {
    await must("DELETE", "/v1/connectors/idp");
    const made = await must("POST", "/v1/agents", { name: "Keeper", goal: "g", tools });
    const missing = [{ field: "tools", message: expect.stringMatching(/identity tool.*not set up.*connectors\/idp/) }];
    expect(made.warnings).toEqual(missing);
    expect(await warningsOf(made.id)).toEqual(missing);
    expect((await publish(made.id)).warnings).toEqual(missing);
    expect(await warningsOf(await makeAgent({ tools: ["http_request"] }))).toEqual([]);

    await storeToken(new Date(Date.now() + 86_400_000));
    expect(await warningsOf(made.id)).toEqual([]);

    await storeToken(new Date(Date.now() - 1000));
    expect(await warningsOf(made.id)).toEqual([{ field: "tools", message: expect.stringContaining("expired") }]);

    // Sealed under another key, or for another tenant.
    await gantry.database.sql`update idp_connectors set domain = 'other.example', expires_at = null`;
    expect(await warningsOf(made.id)).toEqual([{ field: "tools", message: expect.stringContaining("Store it again") }]);
  });

  test("must belong to the agent's owner", async () => {
    await storeToken(null);
    const key = await gantry.newUser("unconnected");
    const made = await gantry.call("POST", "/v1/agents", { key, json: { name: "Keeper", goal: "g", tools } });
    expect(made.body.warnings, made.text).toHaveLength(1);
  });

  async function storeToken(expiresAt: Date | null): Promise<void> {
    await must("PUT", "/v1/connectors/idp", { domain: tenant.domain, token: tenant.issue(allScopes) });
    await gantry.database.sql`update idp_connectors set expires_at = ${expiresAt}`;
  }
});

describe("deleted parts", () => {
  test("a model, a drive and a tool server are reported when the agent is read and published", async () => {
    const text = { type: "string" };
    await must("PUT", "/api/v1/admin/passing", {
      title: "Passing",
      kind: "text",
      visibility: "public",
      input: { type: "object", properties: { prompt: text }, required: ["prompt"] },
      output: { type: "object", properties: { output: { ...text, isStream: true } } },
      backend: { type: "openai-chat", url: "https://up.example/v1", model: "x" },
    });
    const drive = (await must("POST", "/v1/drives", { name: "passing" })).id;
    const far = await scriptedServer();
    const server = await must("POST", "/v1/mcp-servers", {
      name: "passing",
      url: far.url,
      connection_type: "streamable_http",
    });
    await far.close();
    const agent = await makeAgent({
      model: "admin/passing",
      tools: ["drive_read"],
      drives: [drive],
      mcp_servers: [{ id: server.id }],
      visibility: "public",
    });
    expect((await publish(agent)).warnings).toEqual([]);

    await must("DELETE", "/api/v1/admin/passing");
    await must("DELETE", `/v1/drives/${drive}?force=true`);
    await must("DELETE", `/v1/mcp-servers/${server.id}?force=true`);
    const gone = [
      { field: "model", message: expect.stringContaining("admin/passing") },
      { field: "drives", message: `Drive ${drive} does not exist` },
      { field: "mcp_servers", message: `Tool server ${server.id} does not exist` },
    ];
    expect(await warningsOf(agent)).toEqual(gone);
    expect((await publish(agent)).warnings).toEqual(gone);

    // An agent's parts are private.
    const card = await gantry.call("GET", `/v1/agents/${agent}`, { key: await gantry.newUser("stranger") });
    expect(card.status).toBe(200);
    expect(card.body).not.toHaveProperty("warnings");
  });

  test("warnings describe the published revision, even if it is not the latest", async () => {
    const drive = (await must("POST", "/v1/drives", { name: "of the first" })).id;
    const agent = await makeAgent({ drives: [drive] });
    const { latest_revision_id: first } = await must("GET", `/v1/agents/${agent}`);
    await must("PATCH", `/v1/agents/${agent}`, { drives: [] });
    await must("DELETE", `/v1/drives/${drive}?force=true`);
    expect((await publish(agent, { revision_id: first })).warnings).toEqual([
      { field: "drives", message: `Drive ${drive} does not exist` },
    ]);
    expect(await warningsOf(agent)).toEqual([]);
  });
});
