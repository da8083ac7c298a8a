import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;

beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.close());

test("an agent with a drive is created, published and listed, and its drive cannot be deleted by mistake", async () => {
  const drive = await gantry.call("POST", "/v1/drives", { json: { name: "notes" } });
  expect(drive.status, drive.text).toBe(201);
  const file = await gantry.call("POST", `/v1/drives/${drive.body.id}/files`, {
    form: { path: "/a/b.txt", file: new File(["hello"], "b.txt") },
  });
  expect(file.body).toMatchObject({ path: "/a/b.txt", size: 5 });
  expect((await gantry.call("GET", `/v1/drives/${drive.body.id}/files/a/b.txt`)).text).toBe("hello");
  const agent = await gantry.call("POST", "/v1/agents", {
    json: {
      name: "Note Keeper",
      goal: "Keep {{topic}}",
      tools: ["drive_list"],
      drives: [drive.body.id],
      visibility: "public",
    },
  });
  expect(agent.status, agent.text).toBe(201);
  expect(agent.body).toMatchObject({
    status: "unpublished",
    visibility: "public",
    revision_id: expect.stringMatching(/^rev_/),
  });
  expect((await gantry.call("POST", `/v1/agents/${agent.body.id}/publish`, { json: {} })).status).toBe(200);
  expect((await gantry.call("GET", `/v1/agents/${agent.body.id}`)).body).toMatchObject({
    model: "anthropic/default",
    status: "published",
  });
  expect((await gantry.call("GET", "/v1/marketplace/agents?q=note")).body.agents).toHaveLength(1);
  const kept = await gantry.call("DELETE", `/v1/drives/${drive.body.id}`);
  expect(kept.status).toBe(409);
  expect(kept.text).toContain("Note Keeper");
  expect((await gantry.call("DELETE", `/v1/drives/${drive.body.id}?force=true`)).status).toBe(204);
});

test("tools, tool servers and the connector answer in the platform's dialect", async () => {
  const tools = (await gantry.call("GET", "/v1/tools")).body.tools as { id: string }[];
  expect(tools.filter((tool) => tool.id.startsWith("idp_"))).toHaveLength(60);
  expect((await gantry.call("GET", "/v1/mcp-servers")).body).toEqual({
    mcp_servers: [],
    total: 0,
    limit: 20,
    offset: 0,
  });
  expect((await gantry.call("GET", "/v1/connectors/idp")).status).toBe(404);
  const unknown = await gantry.call("GET", "/v1/agents/agt_00000000000000000000000000");
  expect(unknown.body).toMatchObject({ error: { type: "not_found", code: "not_found" } });
  expect((await gantry.call("GET", "/v1/agents", { key: "" })).body.error.type).toBe("unauthorized");
  expect((await gantry.call("GET", "/v1/nothing")).body.error.type).toBe("not_found");
});

test("the message of a refused input names the field and counts further wrong ones", async () => {
  const message = async (json: object) => (await gantry.call("POST", "/v1/agents", { json })).body.error.message;
  const agent = { name: "Refused", goal: "g", tools: [] };
  expect(await message({ ...agent, goal: 1 })).toMatch(/^goal: .*text/);
  expect(await message({ ...agent, tools: ["http_request", { type: "agent" }] })).toBe(
    "tools[1].agent_id: Field required",
  );
  expect(await message({ name: "Refused" })).toBe("goal: Field required (the first of 2 faults)");
  const { body } = await gantry.call("GET", "/v1/agents?limit=0");
  expect(body.error).toMatchObject({ type: "invalid_input", message: "limit: Must be at least 1" });
  expect(body.error.details).toMatchObject([{ loc: ["query", "limit"], message: "Must be at least 1" }]);
});

test("a list refuses an unknown parameter and names the known ones", async () => {
  const drive = (await gantry.call("POST", "/v1/drives", { json: { name: "listed" } })).body.id;
  const agent = (await gantry.call("POST", "/v1/agents", { json: { name: "Listed", goal: "g", tools: [] } })).body.id;
  const known = {
    agents: "limit, offset, visibility",
    [`agents/${agent}/revisions`]: "limit, offset",
    [`agents/${agent}/runs`]: "limit, offset, status, phase, q, from_date, to_date",
    runs: "limit, offset, status, phase, q, from_date, to_date, agent_id, parent_run_id, thread_id",
    "mcp-servers": "limit, offset",
    drives: "limit, offset",
    [`drives/${drive}/items`]: "limit, offset, path",
    "marketplace/agents": "limit, offset, q",
  };
  for (const [list, parameters] of Object.entries(known)) {
    const { status, body } = await gantry.call("GET", `/v1/${list}?limit=5&stats=done`);
    expect([status, body.error?.details], list).toEqual([
      400,
      [{ loc: ["query", "stats"], message: `Unknown parameter. Known: ${parameters}`, reason: "extra_forbidden" }],
    ]);
    expect((await gantry.call("GET", `/v1/${list}?limit=5`)).status, list).toBe(200);
  }
});
