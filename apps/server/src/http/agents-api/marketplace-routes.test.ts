import { agentCard } from "@gantry/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentsUnderTest, agentsUnderTest } from "../../../test/support/agents.ts";

let bench: AgentsUnderTest;
beforeAll(async () => {
  bench = await agentsUnderTest({ drives: { ann: ["drv_ann"] }, toolServers: { ann: ["mcp_ann"] } });
  for (const username of ["ann", "bob"]) await bench.newUser(username);
});
afterAll(() => bench.close());

const secret = "the-secret-of-the-goal";

async function make(who: string, name: string, fields: object = {}, publish = true): Promise<string> {
  const body = { name, goal: secret, tools: ["run_model"], instructions: { planning: secret }, ...fields };
  const made = await bench.call("POST", "/v1/agents", who, { visibility: "public", ...body });
  if (made.status !== 201) throw new Error(made.text);
  if (publish) await bench.call("POST", `/v1/agents/${made.body.id}/publish`, who);
  return made.body.id;
}

const names = async (query = "", who = "bob") => {
  const answer = await bench.call("GET", `/v1/marketplace/agents${query}`, who);
  expect(answer.status).toBe(200);
  return answer.body.agents.map(({ name }: { name: string }) => name);
};

test("public published agents of everybody, newest publication first, as cards", async () => {
  await make("ann", "Private", { visibility: "private" });
  await make("ann", "Draft", {}, false);
  const deleted = await make("ann", "Deleted");
  await bench.call("DELETE", `/v1/agents/${deleted}`, "ann");
  const weather = await make("ann", "Weather of Today", {
    drives: ["drv_ann"],
    mcp_servers: [{ id: "mcp_ann" }],
    pricing: { per_run: 0.5 },
    input_schema: { type: "object", properties: { z: { description: "last" }, a: { description: "first" } } },
  });
  await make("bob", "50% Off_Finder");
  await make("bob", "Third");

  const answer = await bench.call("GET", "/v1/marketplace/agents/", "bob");
  expect(answer.body).toMatchObject({ total: 3, limit: 20, offset: 0 });
  expect(agentCard.strict().array().parse(answer.body.agents)).toEqual(answer.body.agents);
  expect(answer.body.agents.map(({ name }: { name: string }) => name)).toEqual([
    "Third",
    "50% Off_Finder",
    "Weather of Today",
  ]);
  expect(answer.text).not.toContain(secret);
  expect(answer.text).not.toMatch(/drv_|mcp_|run_model/);
  const card = answer.body.agents[2];
  expect(card).toMatchObject({ id: weather, slug: "weather-of-today", owner: "ann", pricing: { per_run: 0.5 } });
  expect(Object.keys(card.input_schema.properties)).toEqual(["z", "a"]);
  expect((await bench.call("GET", `/v1/agents/${weather}`, "bob")).body).toEqual(card);

  // The published revision counts, not the latest; publishing again puts it first.
  await bench.call("PATCH", `/v1/agents/${weather}`, "ann", { name: "Renamed", pricing: { per_run: 9 } });
  expect(await names()).toContain("Weather of Today");
  await bench.call("POST", `/v1/agents/${weather}/publish`, "ann");
  expect(await names()).toEqual(["Renamed", "Third", "50% Off_Finder"]);
  expect(await names("?limit=1&offset=1")).toEqual(["Third"]);
});

test("the search looks at names, slugs and owners, and takes every sign as itself", async () => {
  expect(await names("?q=RENAMED")).toEqual(["Renamed"]);
  expect(await names("?q=weather-of")).toEqual(["Renamed"]);
  expect(await names("?q=ann/")).toEqual(["Renamed"]);
  expect(await names("?q=50%25")).toEqual(["50% Off_Finder"]);
  expect(await names("?q=_")).toEqual(["50% Off_Finder"]);
  expect(await names("?q=")).toHaveLength(3);
  expect(await names("?q=secret")).toEqual([]);
  expect((await bench.call("GET", "/v1/marketplace/agents?q=renamed", "ann")).body.total).toBe(1);
});

test("400 with every wrong parameter", async () => {
  const answer = await bench.call("GET", `/v1/marketplace/agents?limit=1000&offset=x&q=a&q=b`, "bob");
  expect(answer.status).toBe(400);
  expect(answer.body.error.details.map(({ loc }: { loc: unknown[] }) => loc.join("."))).toEqual([
    "query.limit",
    "query.offset",
    "query.q",
  ]);
  for (const q of ["%00", "x".repeat(201)]) {
    expect((await bench.call("GET", `/v1/marketplace/agents?q=${q}`, "bob")).status).toBe(400);
  }
});

test("the agents of a user who was shut out are not offered", async () => {
  const id = await make("bob", "Gone soon");
  await bench.accounts.changeUser("bob", { disabled: true });
  expect(await names("", "ann")).toEqual(["Renamed"]);
  expect((await bench.call("GET", `/v1/agents/${id}`, "ann")).status).toBe(404);
  await bench.accounts.changeUser("bob", { disabled: false });
});
