import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type GantryClient } from "../../../../../packages/sdk/src/index.ts";
import { startWire, type Wire } from "../../proof/wire.ts";
import { testDatabase } from "../../support/database.ts";
import { failureOf } from "../../support/failure-of.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let own: Awaited<ReturnType<typeof testDatabase>>;
let wire: Wire;
let gantry: GantryNode;
let client: GantryClient;
let agentId: string;

beforeAll(async () => {
  own = await testDatabase();
  wire = await startWire(own.url);
  gantry = await startGantry({ env: { DATABASE_URL: wire.url } });
  client = createClient({ url: gantry.url, key: gantry.adminKey });
  agentId = (await client.agents.create({ name: "A", goal: "Do it.", tools: [], model: "gantry/rules" })).id;
  await client.agents.publish(agentId);
});
afterAll(async () => {
  await gantry?.close();
  await wire?.close();
  await own?.drop();
});

test.each<[string, string, () => Promise<unknown>, () => Promise<number>]>([
  [
    "a schedule",
    "insert into schedules",
    () => client.schedules.create(agentId, { cron: "@daily", input: {} }),
    async () => (await client.schedules.list()).total,
  ],
  [
    "a trigger",
    "insert into triggers",
    () => client.triggers.create(agentId, {}),
    async () => (await client.triggers.list()).total,
  ],
  [
    "an agent",
    "insert into agents",
    () => client.agents.create({ name: "Lost", goal: "Do it.", tools: [], model: "gantry/rules" }),
    async () => (await client.agents.list()).total,
  ],
])("%s is created once if the answer to its commit is lost", async (_, statement, create, count) => {
  const before = await count();
  const lost = wire.loseAnswerTo({ statement }, "commit\0");
  const failure = await failureOf(create());
  await lost;
  expect(failure).toMatchObject({ status: 503, type: "unavailable", retryable: true, retryAfter: undefined });
  expect(await count()).toBe(before + 1);
});
