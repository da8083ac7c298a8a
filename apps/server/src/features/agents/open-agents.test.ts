import { newId } from "@gantry/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentsUnderTest, agentsUnderTest } from "../../../test/support/agents.ts";
import { builtinTools, toolTable } from "./tools.ts";

let bench: AgentsUnderTest;
let ann: string;
let bob: string;
beforeAll(async () => {
  bench = await agentsUnderTest({
    drives: { ann: ["drv_1", "drv_2"] },
    toolServers: { ann: ["mcp_1", "mcp_2"] },
  });
  for (const username of ["ann", "bob"]) await bench.newUser(username);
  [ann, bob] = [await bench.userId("ann"), await bench.userId("bob")];
});
afterAll(() => bench.close());

async function make(fields: object = {}): Promise<{ id: string; revision_id: string; slug: string }> {
  const made = await bench.call("POST", "/v1/agents", "ann", { name: "Agent", goal: "g", tools: [], ...fields });
  if (made.status !== 201) throw new Error(made.text);
  return made.body;
}
const publish = (id: string, revision_id?: string) =>
  bench.call("POST", `/v1/agents/${id}/publish`, "ann", revision_id === undefined ? {} : { revision_id });
const change = async (id: string, fields: object): Promise<string> =>
  (await bench.call("PATCH", `/v1/agents/${id}`, "ann", fields)).body.latest_revision_id;

describe("getRunnable", () => {
  const notFound = { type: "not_found" };

  test("the owner runs the published revision or a chosen one", async () => {
    const { id, revision_id, slug } = await make({ name: "Runs" });
    await expect(bench.agents.getRunnable(ann, { agentId: id })).rejects.toMatchObject({ type: "agent_not_published" });
    const draft = await bench.agents.getRunnable(ann, { agentId: id }, revision_id);
    expect(draft).toMatchObject({ isOwner: true, revision: { id: revision_id, status: "draft" } });
    await publish(id);
    const later = await change(id, { name: "Later", pricing: { per_run: 2 } });
    expect(await bench.agents.getRunnable(ann, { creator: "ann", slug })).toMatchObject({
      agent: { id, owner: "ann", ownerId: ann },
      revision: { id: revision_id, snapshot: { name: "Runs", pricing: { per_run: 0 } } },
    });
    expect((await bench.agents.getRunnable(ann, { agentId: id }, later)).revision.snapshot.name).toBe("Later");
    for (const wrong of [newId("revision"), "rev_\0", (await make()).revision_id]) {
      await expect(bench.agents.getRunnable(ann, { agentId: id }, wrong)).rejects.toMatchObject(notFound);
    }
  });

  test("another user runs the published revision of a public agent and cannot choose one", async () => {
    const { id, revision_id, slug } = await make({ name: "Shared" });
    await publish(id);
    for (const address of [{ agentId: id }, { creator: "ann", slug }]) {
      await expect(bench.agents.getRunnable(bob, address)).rejects.toMatchObject(notFound);
    }
    await change(id, { visibility: "public" });
    for (const address of [{ agentId: id }, { creator: "ann", slug }]) {
      expect(await bench.agents.getRunnable(bob, address)).toMatchObject({
        isOwner: false,
        revision: { id: revision_id },
      });
      await expect(bench.agents.getRunnable(bob, address, revision_id)).rejects.toMatchObject({ type: "forbidden" });
    }
    await bench.call("DELETE", `/v1/agents/${id}`, "ann");
    await expect(bench.agents.getRunnable(bob, { creator: "ann", slug })).rejects.toMatchObject(notFound);
  });

  test("a public agent without a published revision is refused", async () => {
    const { id } = await make({ visibility: "public" });
    await expect(bench.agents.getRunnable(bob, { agentId: id })).rejects.toMatchObject({ type: "agent_not_published" });
  });

  test("an invalid address is not found", async () => {
    for (const address of [{ agentId: "x\0" }, { creator: "a\0", slug: "x" }, { creator: "ann", slug: "No Slug" }]) {
      await expect(bench.agents.getRunnable(ann, address)).rejects.toMatchObject(notFound);
    }
  });
});

describe("agentsUsing", () => {
  test("finds agents of the owner by published or latest revision, without deleted ones", async () => {
    const published = await make({
      name: "Published",
      drives: ["drv_1"],
      mcp_servers: [{ id: "mcp_1", tools: ["t"] }],
    });
    await publish(published.id);
    await change(published.id, { drives: [], mcp_servers: [] });
    const latest = await make({ name: "Latest" });
    await change(latest.id, { drives: ["drv_2", "drv_1"], mcp_servers: [{ id: "mcp_2" }, { id: "mcp_1" }] });
    const formerly = await make({ name: "Formerly", drives: ["drv_1"] });
    await change(formerly.id, { drives: ["drv_2"] });
    const deleted = await make({ name: "Deleted", drives: ["drv_1"] });
    await bench.call("DELETE", `/v1/agents/${deleted.id}`, "ann");

    const both = [
      { id: latest.id, name: "Latest" },
      { id: published.id, name: "Published" },
    ];
    expect(await bench.agents.agentsUsing(ann, { driveId: "drv_1" })).toEqual(both);
    expect(await bench.agents.agentsUsing(ann, { toolServerId: "mcp_1" })).toEqual(both);
    expect(await bench.agents.agentsUsing(ann, { toolServerId: "mcp_2" })).toEqual([both[0]]);
    expect(await bench.agents.agentsUsing(bob, { driveId: "drv_1" })).toEqual([]);
    expect(await bench.agents.agentsUsing(ann, { driveId: "drv" })).toEqual([]);
  });
});

test("the table contains each tool once", () => {
  expect(builtinTools.map(({ id }) => id)).toEqual([
    "http_request",
    "web_fetch",
    "web_search",
    "run_model",
    "run_javascript",
    "drive_list",
    "drive_read",
    "drive_search",
    "drive_write",
    "drive_delete",
    "update_memory",
  ]);
  expect(() => toolTable(builtinTools)).toThrow("duplicate tool http_request");
});

test("a list needs as many lookups as a single agent", async () => {
  const ids = await Promise.all(Array.from({ length: 8 }, () => make({ drives: ["drv_1", "drv_2"] })));
  const before = bench.driveLookups();
  const { body } = await bench.call("GET", "/v1/agents?limit=8", "ann");
  expect(body.agents.map(({ id }: { id: string }) => id).sort()).toEqual(ids.map(({ id }) => id).sort());
  expect(bench.driveLookups() - before).toBe(1);
});

test("reading agents compiles no schemas, because all users share that thread", async () => {
  const tools = [{ type: "tool", id: "http_request", arguments: { method: "GET" } }];
  const { id } = await make({ tools });
  expect(bench.schemaTrials()).toBeGreaterThan(0);
  const before = bench.schemaTrials();
  const { body } = await bench.call("GET", "/v1/agents?limit=1", "ann");
  expect(body.agents).toMatchObject([{ id, tools, warnings: [] }]);
  expect((await bench.call("GET", `/v1/agents/${id}`, "ann")).status).toBe(200);
  expect((await publish(id)).status).toBe(200);
  expect(bench.schemaTrials() - before).toBe(0);
});
