import { describe, expect, test } from "vitest";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn } from "../../support/scripted-llm.ts";

// A key may list agents beside models. It then runs these agents and what they are built from, and nothing else.

const platform = useRunsPlatform();
const { makeAgent, makeModel, run, events } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
type User = Awaited<ReturnType<typeof platform.newUser>>;

const newKey = (models: string[], { key }: User) => call("POST", "/api/v2/keys", { key, json: { models } });
async function confinedTo(models: string[], user: User): Promise<User> {
  const made = await newKey(models, user);
  expect([made.status, made.body.models], made.text).toEqual([201, models]);
  return { name: user.name, key: made.body.key };
}
async function nameOf(agent: string, user: User): Promise<string> {
  return `agents/${user.name}/${(await call("GET", `/v1/agents/${agent}`, user)).body.slug}`;
}
const calledModels = () => platform.llm.requests.map(({ model }) => model);
const textOf = async (id: string, { key }: User) => JSON.stringify(await events(id, key));

test("a key lists only agents that its owner may run now", async () => {
  const [user, other] = [await platform.newUser(), await platform.newUser()];
  const [hidden, shown] = [await makeAgent({}, other.key), await makeAgent({ visibility: "public" }, other.key)];
  const draft = await call("POST", "/v1/agents", { ...user, json: { name: "Draft", goal: "g", tools: [] } });
  const names = [await nameOf(hidden, other), `agents/${user.name}/${draft.body.slug}`, `agents/${user.name}/none`];
  const refused = await newKey([await nameOf(shown, other), ...names], user);
  expect([refused.status, refused.body.detail]).toMatchObject([
    422,
    names.map((name, at) => ({
      loc: ["body", "models", at + 1],
      msg: `Agent ${name} does not exist, is not published, or the owner of the key may not run it`,
    })),
  ]);
  for (const name of ["agents/x", "agents/x/y/z", "agents//y", "Agents/x/y"]) {
    expect((await newKey([name], user)).body.detail[0].loc).toEqual(["body", "models", 0]);
  }
  await confinedTo([await nameOf(shown, other), "admin/llm"], user);
  const made = { key: platform.gantry.adminKey, json: { models: [await nameOf(hidden, other)] } };
  expect((await call("POST", `/api/v2/admin/users/${user.name}/keys`, made)).status).toBe(422);
  expect((await call("POST", `/api/v2/admin/users/${other.name}/keys`, made)).status).toBe(201);
});

describe("a key that lists an agent", () => {
  test("runs it, sees its card and cannot call its model or run another agent", async () => {
    const user = await platform.newUser();
    const [listed, unlisted] = [await makeAgent({}, user.key), await makeAgent({}, user.key)];
    const key = await confinedTo([await nameOf(listed, user)], user);
    const done = await run(listed, {}, key);
    expect(done.body, done.text).toMatchObject({ status: "done" });
    const byAddress = `/v1/agents/${(await nameOf(listed, user)).replace("agents/", "")}/runs`;
    expect((await call("POST", byAddress, { ...key, json: { input: {}, wait: 20 } })).body.status).toBe("done");
    expect((await call("GET", `/v1/agents/${listed}`, key)).body).toMatchObject({ id: listed, status: "published" });
    expect((await call("GET", "/v1/agents", key)).body).toMatchObject({ total: 1, agents: [{ id: listed }] });

    const refused = await run(unlisted, {}, key);
    expect([refused.status, refused.body.error.message]).toEqual([404, "Agent not found"]);
    expect((await call("GET", `/v1/agents/${unlisted}`, key)).status).toBe(404);
    const predicted = await call("POST", "/api/v1/admin/llm/predict", { ...key, form: { prompt: "x" } });
    expect([predicted.status, predicted.body.detail]).toEqual([403, "API key does not have access to the project"]);
    expect((await call("GET", "/api/v1", key)).body.results).toEqual([]);
    expect(calledModels()).toHaveLength(2);
  });

  test("runs another user's agent, and not a sibling of it", async () => {
    const [creator, user] = [await platform.newUser(), await platform.newUser()];
    const [listed, other] = [
      await makeAgent({ visibility: "public" }, creator.key),
      await makeAgent({ visibility: "public" }, creator.key),
    ];
    const key = await confinedTo([await nameOf(listed, creator)], user);
    expect((await run(listed, {}, key)).body.status).toBe("done");
    const refused = await run(other, {}, key);
    expect([refused.status, refused.body.error.message]).toEqual([
      403,
      "API key does not have access to the agent's model",
    ]);
  });

  test("runs its sub-agents at every depth, which it cannot run directly", async () => {
    const user = await platform.newUser();
    await makeModel("leaf", {}, user);
    await makeModel("branch", {}, user);
    const leaf = await makeAgent({ name: "Leaf", model: `${user.name}/leaf` }, user.key);
    const bind = (agent_id: string, name: string) => ({ type: "agent", agent_id, name });
    const branchFields = { name: "Branch", model: `${user.name}/branch`, tools: [bind(leaf, "leaf")] };
    const branch = await makeAgent(branchFields, user.key);
    const root = await makeAgent({ name: "Root", tools: [bind(branch, "branch")] }, user.key);
    const script = inTurn(
      { calls: [{ name: "branch", args: {} }] },
      { calls: [{ name: "leaf", args: {} }] },
      { text: "leaf done" },
      { text: "branch done" },
      { text: "root done" },
    );
    platform.llm.script = script;
    const key = await confinedTo([await nameOf(root, user)], user);
    const done = await run(root, {}, key);
    expect(done.body, done.text).toMatchObject({ status: "done" });
    expect(calledModels()).toEqual(["llm", "branch", "leaf", "branch", "llm"]);
    expect((await run(branch, {}, key)).status).toBe(404);
    expect((await run(leaf, {}, key)).status).toBe(404);

    // Without the agent in the list, each sub-agent needs its own model there.
    platform.llm.requests.length = 0;
    platform.llm.script = () => ({ text: "alone" });
    const narrow = await confinedTo(["admin/llm"], user);
    const alone = await run(root, {}, narrow);
    expect(alone.body.status).toBe("done");
    expect(platform.llm.requests[0]?.tools ?? []).toEqual([]);
  });

  test("lets run_model call the models that the creator has fixed, and no other", async () => {
    const user = await platform.newUser();
    for (const name of ["fixed", "free"]) await makeModel(name, {}, user);
    const input = { prompt: "x" };
    const fixed = { type: "tool", id: "run_model", arguments: { model: `${user.name}/fixed` } };
    const [choosing, bound] = [
      await makeAgent({ tools: ["run_model"] }, user.key),
      await makeAgent({ tools: [fixed] }, user.key),
    ];
    const key = await confinedTo([await nameOf(choosing, user), await nameOf(bound, user)], user);
    platform.llm.script = inTurn({ calls: [{ name: "run_model", args: { input } }] }, { text: "ok" }, { text: "done" });
    expect((await run(bound, {}, key)).body.status).toBe("done");
    expect(calledModels()).toEqual(["llm", "fixed", "llm"]);

    platform.llm.requests.length = 0;
    const args = { model: `${user.name}/free`, input };
    platform.llm.script = inTurn({ calls: [{ name: "run_model", args }] }, { text: "done" });
    const refused = await run(choosing, {}, key);
    expect(calledModels()).toEqual(["llm", "llm"]);
    expect(await textOf(refused.body.id, key)).toContain("API key does not have access");
  });
});

test("a key that lists the model of an agent runs it as before", async () => {
  const user = await platform.newUser();
  const agent = await makeAgent({}, user.key);
  const key = await confinedTo(["admin/llm"], user);
  expect((await run(agent, {}, key)).body.status).toBe("done");
  const other = await confinedTo(["gantry/image"], user);
  expect((await run(agent, {}, other)).status).toBe(404);
});

test("MCP offers listed agents as tools", async () => {
  const user = await platform.newUser();
  const [listed, unlisted] = [
    await makeAgent({ name: "Listed" }, user.key),
    await makeAgent({ name: "Other" }, user.key),
  ];
  const key = await confinedTo([await nameOf(listed, user)], user);
  const rpc = async (method: string, params: object = {}) => {
    const headers = { accept: "application/json, text/event-stream" };
    return (await call("POST", "/mcp", { ...key, headers, json: { jsonrpc: "2.0", id: 1, method, params } })).text;
  };
  const tools = await rpc("tools/list");
  const slugs = [await nameOf(listed, user), await nameOf(unlisted, user)].map((name) => name.split("/")[2] ?? "");
  expect([tools.includes(`${slugs[0]}"`), tools.includes(`${slugs[1]}"`)]).toEqual([true, false]);
});
