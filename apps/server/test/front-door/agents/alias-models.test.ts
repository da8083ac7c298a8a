import { describe, expect, test } from "vitest";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

// An agent may name its model by an alias. The name is resolved for each call of the model.

const platform = useRunsPlatform();
const { makeAgent, makeModel, run, start, ended, events } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
type User = Awaited<ReturnType<typeof platform.newUser>>;

async function alias(name: string, model: string, { key }: { key: string }): Promise<void> {
  const answer = await call("PUT", `/api/v2/aliases/${name}`, { key, json: { model } });
  expect([200, 201], answer.text).toContain(answer.status);
}
async function sharedAlias(name: string, model: string): Promise<void> {
  const answer = await call("PUT", `/api/v2/admin/aliases/${name}`, { json: { model } });
  expect([200, 201], answer.text).toContain(answer.status);
}
const calledModels = () => platform.llm.requests.map(({ model }) => model);
const usageOf = async ({ key }: User) => (await call("GET", "/api/v2/usage", { key })).body.results;
async function modelWarnings(agent: string, by: User): Promise<string[]> {
  const { warnings } = (await call("GET", `/v1/agents/${agent}`, by)).body;
  return warnings.flatMap(({ field, message }: Record<string, string>) => (field === "model" ? [message] : []));
}
const create = (model: string, { key }: User, more: object = {}) =>
  call("POST", "/v1/agents", { key, json: { name: "A", goal: "g", tools: [], model, ...more } });

describe("the model of an agent", () => {
  test("moves with the alias, and usage names the endpoint id", async () => {
    const user = await platform.newUser();
    for (const name of ["one", "two"]) await makeModel(name, { pricing: { per_request: 0.01 } }, user);
    await alias("fast", `${user.name}/one`, user);
    const agent = await makeAgent({ model: "fast" }, user.key);
    expect((await call("GET", `/v1/agents/${agent}`, user)).body).toMatchObject({ model: "fast" });
    expect(await modelWarnings(agent, user)).toEqual([]);
    const first = await run(agent, {}, user);
    expect(first.body, first.text).toMatchObject({ status: "done", cost: 0.01 });
    expect((await events(first.body.id, user.key))[0].message).toContain(`with ${user.name}/one`);
    await alias("fast", `${user.name}/two`, user);
    expect((await run(agent, {}, user)).body.status).toBe("done");
    expect(calledModels()).toEqual(["one", "two"]);
    expect((await usageOf(user)).map((row: { model_name: string }) => row.model_name)).toEqual([
      `${user.name}/two`,
      `${user.name}/one`,
    ]);
  });

  test("moves between two calls of a run", async () => {
    const user = await platform.newUser();
    for (const name of ["one", "two"]) await makeModel(name, {}, user);
    await alias("fast", `${user.name}/one`, user);
    const agent = await makeAgent({ model: "fast", tools: ["run_javascript"] }, user.key);
    const asked = gate();
    const answer = gate();
    platform.llm.script = async (_, n) => {
      if (n > 1) return { text: "done" };
      asked.open();
      await answer.promise;
      return { calls: [{ name: "run_javascript", args: { code: "1" } }] };
    };
    const id = await start(agent, {}, user);
    await asked.promise;
    await alias("fast", `${user.name}/two`, user);
    answer.open();
    expect(await ended(id, user.key)).toMatchObject({ status: "done" });
    expect(calledModels()).toEqual(["one", "two"]);
  });

  test("is an alias of the creator, then of all users, never one of the caller", async () => {
    const [creator, caller] = [await platform.newUser(), await platform.newUser()];
    for (const name of ["shared", "creators", "callers"]) await makeModel(name);
    await sharedAlias("smart", "admin/shared");
    await alias("smart", "admin/callers", caller);
    const agent = await makeAgent({ model: "smart", visibility: "public" }, creator.key);
    await run(agent, {}, caller);
    await alias("smart", "admin/creators", creator);
    await run(agent, {}, caller);
    expect(calledModels()).toEqual(["shared", "creators"]);
    await call("DELETE", "/api/v2/aliases/smart", { key: creator.key });
    await run(agent, {}, caller);
    expect(calledModels().at(-1)).toBe("shared");
  });

  test("is checked when it is saved", async () => {
    const [user, other] = [await platform.newUser(), await platform.newUser()];
    await alias("theirs", "admin/llm", other);
    await alias("picture", "gantry/image", user);
    const helper = await makeAgent({ name: "Helper" }, user.key);
    const { slug } = (await call("GET", `/v1/agents/${helper}`, user)).body;
    await alias("helper", `agents/${user.name}/${slug}`, user);
    const messages = {
      theirs: "Alias theirs does not exist, or does not name a model that you may call",
      helper: "Alias helper does not exist, or does not name a model that you may call",
      picture: "gantry/image (alias picture) is not a text model",
      "a/b/c": "A model has the form owner/model, or is an alias without a slash",
      "": "A model has the form owner/model, or is an alias without a slash",
    };
    for (const [model, message] of Object.entries(messages)) {
      const answer = await create(model, user);
      expect([answer.status, answer.body.error.details]).toMatchObject([400, [{ loc: ["body", "model"], message }]]);
    }
  });

  test("is reported as a warning and a conflict when its alias or model is gone", async () => {
    const user = await platform.newUser();
    await makeModel("gone", {}, user);
    await alias("fast", `${user.name}/gone`, user);
    const agent = await makeAgent({ model: "fast" }, user.key);
    const missing = "Alias fast does not exist, or does not name a model that you may call";
    const conflict = "The agent's model fast no longer exists, or its creator may not use it";
    for (const path of [`/api/v1/${user.name}/gone`, "/api/v2/aliases/fast"]) {
      expect((await call("DELETE", path, user)).status).toBe(204);
      expect(await modelWarnings(agent, user)).toEqual([missing]);
      const refused = await run(agent, {}, user);
      expect([refused.status, refused.body.error.message]).toEqual([409, conflict]);
    }
    expect(platform.llm.requests).toEqual([]);
  });
});

describe("another user's agent", () => {
  test("shows the caller the models behind its aliases, with prices", async () => {
    const [creator, caller] = [await platform.newUser(), await platform.newUser()];
    await makeModel("priced", { pricing: { per_request: 0.02 } });
    await makeModel("called", { pricing: { per_request: 0.03 } });
    await alias("fast", "admin/priced", creator);
    await alias("tool", "admin/called", creator);
    const tools = [{ type: "tool", id: "run_model", arguments: { model: "tool" } }];
    const agent = await makeAgent({ model: "fast", visibility: "public", tools }, creator.key);
    const card = async () => (await call("GET", `/v1/agents/${agent}`, caller)).body.models;
    expect((await card()).map(({ model }: { model: string }) => model)).toEqual(["admin/priced", "admin/called"]);
    expect((await card())[0].pricing).toMatchObject({ per_request: 0.02 });
    await makeModel("own", { visibility: "private", pricing: { per_request: 5 } }, creator);
    await alias("fast", `${creator.name}/own`, creator);
    expect((await card()).map(({ model }: { model: string }) => model)).toEqual(["admin/called"]);
  });

  test("has its private model behind an alias paid by the creator", async () => {
    const [creator, caller] = [await platform.newUser({ credit: 10 }), await platform.newUser({ credit: 1 })];
    await makeModel("own", { visibility: "private", pricing: { per_request: 4 } }, creator);
    await alias("fast", `${creator.name}/own`, creator);
    const made = await create("fast", creator, { visibility: "public" });
    const message = `You pay for your private model ${creator.name}/own (alias fast) when other users run this agent`;
    expect(made.body.warnings).toEqual([{ field: "model", message }]);
    await call("POST", `/v1/agents/${made.body.id}/publish`, { key: creator.key, json: {} });
    const answer = await run(made.body.id, { max_cost: 0.5 }, caller);
    expect(answer.body, answer.text).toMatchObject({ status: "done", cost: 0 });
    expect(await usageOf(caller)).toEqual([]);
    expect(await usageOf(creator)).toMatchObject([{ model_name: `${creator.name}/own`, price: 4 }]);
  });
});

test("run_model accepts aliases of the agent's creator", async () => {
  const [creator, caller] = [await platform.newUser(), await platform.newUser()];
  await makeModel("by-tool", { pricing: { per_request: 0.03 } });
  await makeModel("decoy");
  await alias("tool", "admin/by-tool", creator);
  await alias("tool", "admin/decoy", caller);
  const agent = await makeAgent({ tools: ["run_model"], visibility: "public" }, creator.key);
  const args = { model: "tool", input: { prompt: "hello" } };
  const script = () => inTurn({ calls: [{ name: "run_model", args }] }, { text: "from the tool" }, { text: "done" });
  platform.llm.script = script();
  const answer = await run(agent, { max_cost: 1 }, caller);
  expect(answer.body, answer.text).toMatchObject({ status: "done" });
  expect(calledModels()).toEqual(["llm", "by-tool", "llm"]);
  const rows = (await usageOf(caller)).map((row: { model_name: string; price: number }) => [row.model_name, row.price]);
  expect(rows).toContainEqual(["admin/by-tool", 0.03]);

  // The alias leads to a private model of the caller: that needs permission like the model's own name.
  await makeModel("mine", { visibility: "public" }, caller);
  await alias("tool", `${caller.name}/mine`, creator);
  const hidden = await call("PATCH", `/api/v1/${caller.name}/mine`, { ...caller, json: { visibility: "private" } });
  expect(hidden.status, hidden.text).toBe(200);
  platform.llm.requests.length = 0;
  platform.llm.script = script();
  const refused = await run(agent, {}, caller);
  expect(calledModels()).toEqual(["llm", "llm"]);
  expect(JSON.stringify(await events(refused.body.id, caller.key))).toContain("may not use your private models");
});

describe("a confined key", () => {
  async function confinedTo(models: string[], { name, key }: User) {
    const made = await call("POST", "/api/v2/keys", { key, json: { models } });
    expect(made.status, made.text).toBe(201);
    return { name, key: made.body.key as string };
  }

  test("runs and lists an agent if the model behind the alias is in its list", async () => {
    const user = await platform.newUser();
    for (const name of ["one", "two"]) await makeModel(name, {}, user);
    const key = await confinedTo([`${user.name}/one`], user);
    await alias("fast", `${user.name}/one`, user);
    const agent = await makeAgent({ model: "fast" }, user.key);
    const listed = async () =>
      (await call("GET", "/v1/agents", key)).body.agents.map(({ id }: { id: string }) => id) as string[];
    const tools = async () => {
      const json = { jsonrpc: "2.0", id: 1, method: "tools/list" };
      const headers = { accept: "application/json, text/event-stream" };
      return (await call("POST", "/mcp", { ...key, json, headers })).text;
    };
    const { slug } = (await call("GET", `/v1/agents/${agent}`, user)).body;
    expect((await run(agent, {}, key)).body.status).toBe("done");
    expect(await listed()).toEqual([agent]);
    expect(await tools()).toContain(slug);
    expect((await call("GET", `/v1/agents/${agent}`, key)).body.models).toMatchObject([{ model: `${user.name}/one` }]);

    await alias("fast", `${user.name}/two`, user);
    const refused = await run(agent, {}, key);
    expect([refused.status, refused.body.error.message]).toEqual([404, "Agent not found"]);
    expect(await listed()).toEqual([]);
    expect(await tools()).not.toContain(slug);
    expect((await call("GET", `/v1/agents/${agent}`, key)).status).toBe(404);
  });

  test("does not reach another model when the alias moves during a run", async () => {
    const user = await platform.newUser();
    for (const name of ["one", "two"]) await makeModel(name, {}, user);
    const key = await confinedTo([`${user.name}/one`], user);
    await alias("fast", `${user.name}/one`, user);
    const agent = await makeAgent({ model: "fast", tools: ["run_javascript"] }, user.key);
    const answer = gate();
    platform.llm.script = async () => {
      await answer.promise;
      return { calls: [{ name: "run_javascript", args: { code: "1" } }] };
    };
    const id = await start(agent, {}, key);
    await waitFor("the first call", async () => platform.llm.requests.length === 1);
    await alias("fast", `${user.name}/two`, user);
    answer.open();
    const message = "The API key does not have access to the agent's model";
    expect(await ended(id, key.key)).toMatchObject({ status: "error", error: { type: "internal", message } });
    expect(calledModels()).toEqual(["one"]);
  });
});
