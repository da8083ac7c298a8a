import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentsUnderTest, agentsUnderTest } from "../../../test/support/agents.ts";

let bench: AgentsUnderTest;
let ann: { userId: string; models: null };
let bob: { userId: string; models: null };

beforeAll(async () => {
  bench = await agentsUnderTest();
  for (const username of ["ann", "bob"]) await bench.newUser(username);
  ann = { userId: await bench.userId("ann"), models: null };
  bob = { userId: await bench.userId("bob"), models: null };
  await publish("ann", { name: "Private" });
  await publish("ann", { name: "Public", visibility: "public", pricing: { per_run: 0.5 } });
  await publish("bob", { name: "Rules", visibility: "public", model: "gantry/rules" });
  await bench.makeAgent("ann", { name: "Draft", visibility: "public" });
  const gone = await publish("ann", { name: "Gone", visibility: "public" });
  expect((await bench.call("DELETE", `/v1/agents/${gone}`, "ann")).status).toBe(204);
});
afterAll(() => bench.close());

async function publish(who: string, fields: object): Promise<string> {
  const id = await bench.makeAgent(who, fields);
  expect((await bench.call("POST", `/v1/agents/${id}/publish`, who, {})).status).toBe(200);
  return id;
}

const idsFor = async (caller: { userId: string; models: readonly string[] | null }) =>
  (await bench.agents.listRunnable(caller)).map(({ id }) => id);

test("own published agents come first, then public ones, each last published first", async () => {
  expect(await idsFor(ann)).toEqual(["agents/ann/public", "agents/ann/private", "agents/bob/rules"]);
  expect(await idsFor(bob)).toEqual(["agents/bob/rules", "agents/ann/public"]);
});

test("the price is the price for the caller", async () => {
  const address = { creator: "ann", slug: "public" };
  expect(await bench.agents.findRunnable(bob, address)).toEqual({
    id: "agents/ann/public",
    name: "Public",
    perRun: 0.5,
    publishedAt: expect.any(Date),
  });
  expect(await bench.agents.findRunnable(ann, address)).toMatchObject({ perRun: 0 });
});

test.each([
  ["another user's private agent", "ann", "private"],
  ["an agent without a published revision", "ann", "draft"],
  ["a deleted agent", "ann", "gone"],
  ["an unknown agent", "ann", "unknown"],
  ["an invalid name", "ann", "No/Slug\0"],
])("%s is not found", async (_, creator, slug) => {
  expect(await bench.agents.findRunnable(bob, { creator, slug })).toBeUndefined();
});

test("a key limited to models sees agents of these models, and agents that it lists", async () => {
  expect(await idsFor({ ...ann, models: ["gantry/rules"] })).toEqual(["agents/bob/rules"]);
  expect(await idsFor({ ...ann, models: ["agents/ann/private"] })).toEqual(["agents/ann/private"]);
  expect(await idsFor({ ...bob, models: ["agents/ann/private"] })).toEqual([]);
  expect(await idsFor({ ...ann, models: [] })).toEqual([]);
  const listed = { ...bob, models: ["agents/ann/public"] };
  expect(await bench.agents.findRunnable(listed, { creator: "bob", slug: "rules" })).toBeUndefined();
});

test("public agents of a disabled user are not listed", async () => {
  await bench.newUser("eve");
  await publish("eve", { name: "Evil", visibility: "public" });
  expect(await idsFor(bob)).toContain("agents/eve/evil");
  await bench.database.sql`update users set disabled_at = now() where username = 'eve'`;
  expect(await idsFor(bob)).not.toContain("agents/eve/evil");
});
