import { beforeAll, expect, test } from "vitest";
import { useRunsPlatform } from "../../support/runs-platform.ts";

const platform = useRunsPlatform();
const { makeAgent, makeModel } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
type User = Awaited<ReturnType<typeof platform.newUser>>;

let ann: User;
let ben: User;
let caller: User;
beforeAll(async () => {
  [ann, ben, caller] = [await platform.newUser(), await platform.newUser(), await platform.newUser()];
  await makeModel("hidden", { visibility: "private", pricing: { per_request: 40 } }, ann);
  await makeModel("open", { pricing: { per_request: 0.5 } }, ann);
  await makeModel("free", { pricing: {} }, ben);
});

const asSeenBy = async (agentId: string, { key }: User) => {
  const read = (await call("GET", `/v1/agents/${agentId}`, { key })).body;
  const { agents } = (await call("GET", "/v1/marketplace/agents?limit=100", { key })).body;
  const listed = agents.find(({ id }: { id: string }) => id === agentId);
  if (!("goal" in read)) expect(listed).toEqual(read);
  return { models: listed.models, agents: listed.agents };
};
const publicly = (fields: object, { key }: User) => makeAgent({ visibility: "public", goal: "Help.", ...fields }, key);
const bound = (agent_id: string) => ({ type: "agent", agent_id });

test("lists models that the caller pays for, including free ones", async () => {
  const priced = await publicly({ model: `${ann.name}/open` }, ann);
  expect(await asSeenBy(priced, caller)).toEqual({
    models: [{ model: `${ann.name}/open`, pricing: { per_request: 0.5 } }],
    agents: [],
  });
  const free = await publicly({ model: `${ben.name}/free` }, ann);
  expect(await asSeenBy(free, caller)).toEqual({ models: [{ model: `${ben.name}/free`, pricing: {} }], agents: [] });
});

test("hides a model that the creator pays for, except from the creator", async () => {
  const agent = await publicly({ model: `${ann.name}/hidden` }, ann);
  expect(await asSeenBy(agent, caller)).toEqual({ models: [], agents: [] });
  expect((await asSeenBy(agent, ann)).models).toEqual([{ model: `${ann.name}/hidden`, pricing: { per_request: 40 } }]);
});

test("lists the models and prices of everything a run can call", async () => {
  const helper = await makeAgent({ goal: "Help.", model: `${ann.name}/hidden`, pricing: { per_run: 9 } }, ann.key);
  const image = { type: "tool", id: "run_model", arguments: { model: "gantry/image" } };
  const sold = await publicly({ model: `${ben.name}/free`, pricing: { per_run: 2 }, tools: [image] }, ben);
  const { slug } = (await call("GET", `/v1/agents/${sold}`, ben)).body;
  const agent = await publicly({ model: `${ann.name}/open`, tools: [bound(helper), bound(sold)] }, ann);
  expect(await asSeenBy(agent, caller)).toEqual({
    models: [
      { model: `${ann.name}/open`, pricing: { per_request: 0.5 } },
      { model: `${ben.name}/free`, pricing: {} },
      { model: "gantry/image", pricing: { per_request: 0.03 } },
    ],
    // The helper has the same creator: its price is part of the agent's.
    agents: [{ agent: `${ben.name}/${slug}`, pricing: { per_run: 2 } }],
  });
  expect((await asSeenBy(agent, ben)).agents).toEqual([]);

  // Parts missing in a run are not on the card.
  await call("DELETE", `/v1/agents/${sold}`, ben);
  await call("PATCH", `/api/v1/${ann.name}/open`, { ...ann, json: { visibility: "private" } });
  expect(await asSeenBy(agent, caller)).toEqual({ models: [], agents: [] });
});
