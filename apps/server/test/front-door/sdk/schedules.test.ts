import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type GantryClient } from "../../../../../packages/sdk/src/index.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
let client: GantryClient;

beforeAll(async () => {
  gantry = await startGantry();
  client = createClient({ url: gantry.url, key: gantry.adminKey });
});
afterAll(() => gantry.close());

test("schedules are created, listed, changed, run and deleted", async () => {
  const { id: agentId } = await client.agents.create({ name: "A", goal: "Do it.", tools: [], model: "gantry/rules" });
  await client.agents.publish(agentId);
  const made = await client.schedules.create(agentId, { cron: "@daily", timezone: "Asia/Tokyo", input: {} });
  expect(made).toMatchObject({ agent_id: agentId, status: "active", missed: "skip", overlap: "skip" });
  const other = await client.schedules.create(agentId, { cron: "0 0 1 1 *", input: {}, enabled: false });
  expect(await client.schedules.get(made.id)).toEqual(made);
  expect(await client.schedules.list({ agent_id: agentId, limit: 1 })).toMatchObject({ schedules: [other], total: 2 });
  const ids: string[] = [];
  for await (const { id } of client.schedules.each()) ids.push(id);
  expect(ids).toEqual([other.id, made.id]);
  expect(await client.schedules.update(made.id, { max_cost: 0.5 })).toMatchObject({ max_cost: 0.5 });
  expect(await client.schedules.update(made.id, { max_cost: null })).toMatchObject({ max_cost: null });
  const run = await client.schedules.run(made.id);
  expect(run.source).toEqual({ type: "schedule", id: made.id });
  expect((await client.runs.waitFor(run.id)).status).toBe("done");
  await client.schedules.delete(made.id);
  await expect(client.schedules.get(made.id)).rejects.toMatchObject({ type: "not_found" });
});
