import Anthropic from "@anthropic-ai/sdk";
import { beforeAll, expect, test } from "vitest";
import { useDoorsPlatform } from "../../support/doors-platform.ts";

const platform = useDoorsPlatform();
const builtIn = ["gantry/image", "gantry/rules", "gantry/text"];
let owner: string;
let confined: string;

beforeAll(async () => {
  const { gantry, makeModel } = platform;
  const { call } = gantry;
  await makeModel("hidden", "native", { visibility: "private" });
  await makeModel("inactive", "native", { capacity: 0 });
  owner = await gantry.newUser("owner");
  confined = await gantry.newUser("confined", { key: { models: ["gantry/text", "admin/native"] } });
  await call("PUT", "/api/v2/aliases/mine", { json: { model: "gantry/text" }, key: owner });
  await call("PUT", "/api/v2/admin/aliases/gpt-4o", { json: { model: "admin/native" } });
  await call("PUT", "/api/v2/admin/aliases/secret", { json: { model: "admin/hidden" } });
  const made = await call("POST", "/v1/agents", {
    json: { name: "Guide", goal: "Answer {{input}}.", model: "gantry/rules", tools: [] },
    key: owner,
  });
  expect(made.status, made.text).toBe(201);
  const published = await call("POST", `/v1/agents/${made.body.id}/publish`, { json: {}, key: owner });
  expect(published.status, published.text).toBeLessThan(300);
  await call("PUT", "/api/v2/aliases/guide", { json: { model: "agents/owner/guide" }, key: owner });
});

async function idsOf(key: string): Promise<string[]> {
  return (await platform.openai(key).models.list()).data.map(({ id }) => id);
}

test("the official client lists models of every kind, aliases and agents that the caller may use", async () => {
  const { data } = await platform.openai(owner).models.list();
  const ids = data.map(({ id }) => id);
  expect(ids).toEqual(
    expect.arrayContaining([...builtIn, "admin/native", "mine", "gpt-4o", "agents/owner/guide", "guide"]),
  );
  expect(ids).not.toEqual(expect.arrayContaining(["admin/hidden"]));
  for (const id of ["admin/hidden", "admin/inactive", "secret"]) expect(ids).not.toContain(id);
  expect(new Set(ids).size).toBe(ids.length);
  const text = data.find(({ id }) => id === "gantry/text");
  expect(text).toMatchObject({ object: "model", owned_by: "gantry", kind: "text", created: expect.any(Number) });
  expect(data.find(({ id }) => id === "agents/owner/guide")).toMatchObject({ owned_by: "owner", kind: "agent" });
  expect(data.find(({ id }) => id === "gpt-4o")).toMatchObject({ kind: "text", owned_by: "admin" });
});

test("others see neither private models nor private agents and aliases", async () => {
  const ids = await idsOf(await platform.gantry.newUser("stranger"));
  expect(ids).toEqual(expect.arrayContaining([...builtIn, "gpt-4o"]));
  for (const id of ["mine", "guide", "agents/owner/guide", "admin/hidden"]) expect(ids).not.toContain(id);
});

test("a key limited to models sees those, and aliases of those", async () => {
  expect((await idsOf(confined)).sort()).toEqual(["admin/native", "gantry/text", "gpt-4o"]);
});

test("an id with slashes is found plain and encoded", async () => {
  const { call } = platform.gantry;
  for (const path of ["gantry/text", "gantry%2Ftext", "gantry%2ftext"]) {
    const { status, body } = await call("GET", `/v1/models/${path}`);
    expect(status, path).toBe(200);
    expect(body).toMatchObject({ id: "gantry/text", object: "model", owned_by: "gantry" });
  }
  expect(await platform.openai().models.retrieve("gantry/text")).toMatchObject({ id: "gantry/text" });
  const agents = ["agents/owner/guide", "agents%2Fowner%2Fguide", "guide"];
  for (const path of agents) {
    const { status, body } = await call("GET", `/v1/models/${path}`, { key: owner });
    expect([status, body.id], path).toEqual([200, decodeURIComponent(path)]);
  }
  expect((await call("GET", "/v1/models/mine", { key: owner })).body).toMatchObject({ id: "mine", kind: "text" });
});

test("unknown ids are 404 in the client's dialect", async () => {
  for (const id of [
    "gantry/none",
    "none",
    "a/b/c",
    "agents/owner/none",
    "admin/hidden",
    "admin/inactive",
    "%00",
    "%ff",
  ]) {
    const { status, body } = await platform.gantry.call("GET", `/v1/models/${id}`, { key: owner });
    expect([400, 404], id).toContain(status);
    if (!id.startsWith("%")) expect(body.error).toMatchObject({ code: "model_not_found", param: "model" });
  }
  const headers = { "anthropic-version": "2023-06-01" };
  const { status, body } = await platform.gantry.call("GET", "/v1/models/gantry/none", { headers });
  expect([status, body.error.type]).toEqual([404, "not_found_error"]);
  expect((await platform.gantry.call("GET", "/v1/models", { key: "" })).status).toBe(401);
});

test("the official client of Anthropic pages through the same list", async () => {
  const client = new Anthropic({ baseURL: platform.gantry.url, apiKey: owner, maxRetries: 0 });
  const seen: string[] = [];
  for await (const model of client.models.list({ limit: 2 })) {
    expect(model).toMatchObject({ type: "model", display_name: expect.any(String) });
    expect(Number.isNaN(Date.parse(model.created_at))).toBe(false);
    seen.push(model.id);
  }
  expect(seen).toEqual(await idsOf(owner));
  const [first = "", second, third = ""] = seen;
  const before = await client.models.list({ limit: 1, before_id: third });
  expect(before.data.map(({ id }) => id)).toEqual([second]);
  expect(before).toMatchObject({ has_more: true, first_id: second, last_id: second });
  const start = await client.models.list({ before_id: first });
  expect(start).toMatchObject({ data: [], has_more: false, first_id: null, last_id: null });
  expect(await client.models.retrieve("gantry/text")).toMatchObject({ type: "model", id: "gantry/text" });
  await expect(client.models.list({ limit: 0 })).rejects.toMatchObject({ status: 400 });
  await expect(client.models.list({ after_id: "none" })).rejects.toMatchObject({ status: 400 });
});
