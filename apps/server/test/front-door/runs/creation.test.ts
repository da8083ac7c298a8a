import { describe, expect, test } from "vitest";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";

const platform = useRunsPlatform();
const { makeAgent, run } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);

describe("a repeat under an Idempotency-Key", () => {
  test("returns the first answer after the agent was deleted, by either of its addresses", async () => {
    const user = await platform.newUser();
    const who = (key: string) => ({ key: user.key, headers: { "idempotency-key": key } });
    const agent = await makeAgent({ name: "Passing", visibility: "public" }, user.key);
    const byName = (key: string, input: object = {}) =>
      call("POST", `/v1/agents/${user.name}/passing/runs`, { json: { input, wait: 20 }, ...who(key) });
    const first = await run(agent, {}, who("by-id"));
    const named = await byName("by-name");
    expect([first.body.status, named.body.status]).toEqual(["done", "done"]);
    await call("DELETE", `/v1/agents/${agent}`, user);
    expect((await run(agent, {}, who("by-id"))).body).toEqual(first.body);
    expect((await byName("by-name")).body).toEqual(named.body);
    // Both addresses name one agent, so a key is shared.
    expect((await byName("by-id")).body.id).toBe(first.body.id);
    const other = await byName("by-name", { other: 1 });
    expect([other.status, other.body.error.type]).toEqual([422, "idempotency_key_reused"]);

    expect((await run(agent, {}, who("new"))).status).toBe(404);
    expect((await byName("new")).status).toBe(404);
    const stranger = await platform.newUser();
    expect((await run(agent, {}, { ...who("by-id"), key: stranger.key })).status).toBe(404);

    // A new agent with the same name is another agent for an unused key.
    const next = await makeAgent({ name: "Passing", visibility: "public" }, user.key);
    expect((await byName("by-name")).body.id).toBe(named.body.id);
    expect((await byName("newer")).body.agent_id).toBe(next);
  });
});

describe("rate-limit headers", () => {
  const figures = ({ headers }: { headers: Headers }) =>
    ["limit", "remaining", "reset"].map((name) => Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN));
  const reset = expect.toSatisfy((seconds: number) => seconds > 0 && seconds <= 60);

  test("come with every counted request, also an invalid one, and with a repeat, which does not count", async () => {
    const user = await platform.newUser({ plan: "free" });
    const agent = await makeAgent({ input_schema: { type: "object", required: ["thing"] } }, user.key);
    const wrong = await run(agent, {}, user);
    expect(wrong.status).toBe(400);
    expect(figures(wrong)).toEqual([60, 59, reset]);
    const below = await run(agent, { input: { thing: 1 }, approve: 7 }, user);
    expect(below.status).toBe(400);
    expect(figures(below)).toEqual([60, 58, reset]);
    const keyed = { ...user, headers: { "idempotency-key": "k" } };
    let deep: object = {};
    for (let level = 0; level < 200; level++) deep = { deep };
    const tooDeep = await run(agent, { input: deep }, keyed);
    expect(tooDeep.status).toBe(400);
    expect(figures(tooDeep)).toEqual([60, 57, reset]);
    const first = await run(agent, { input: { thing: 1 } }, keyed);
    expect(first.body.status).toBe("done");
    // Its model call does not count, because it is not a request of the user.
    expect(figures(first)).toEqual([60, 56, reset]);
    const repeat = await run(agent, { input: { thing: 1 } }, keyed);
    expect(repeat.body.id).toBe(first.body.id);
    expect(figures(repeat)).toEqual([60, 56, reset]);
  });

  test("come with a repeat also when no requests are left", async () => {
    const held = gate();
    platform.llm.script = () => held.promise.then(() => ({ text: "ok" }));
    const user = await platform.newUser({ plan: "free" });
    const agent = await makeAgent({}, user.key);
    const keyed = { ...user, headers: { "idempotency-key": "k" } };
    const first = await run(agent, { wait: 0 }, keyed);
    await Promise.all(Array.from({ length: 60 }, () => run(agent, { max_steps: 0 }, user)));
    const repeat = await run(agent, { wait: 0 }, keyed);
    held.open();
    expect([repeat.status, repeat.body.id]).toEqual([201, first.body.id]);
    expect(figures(repeat)).toEqual([60, 0, reset]);
  });
});

describe("a tool approved in advance", () => {
  test("is a built-in tool, a server's tool or a sub-agent; an invalid name is refused", async () => {
    const user = await platform.newUser();
    const [named, unnamed] = [
      await makeAgent({ name: "First helper" }, user.key),
      await makeAgent({ name: "Second helper" }, user.key),
    ];
    const tools = [
      { type: "agent", agent_id: named, name: "helper" },
      { type: "agent", agent_id: unnamed },
    ];
    const agent = await makeAgent({ tools, input_schema: { type: "object", required: ["thing"] } }, user.key);
    const right = ["drive_delete", "idp_user_delete", "weather__wipe-all", "helper", "second-helper"];
    const body = { input: { thing: 1 }, approve: right };
    expect((await run(agent, body, user)).body).toMatchObject({ status: "done" });

    const wrong = ["drive_delet", "First helper", "first-helper", "weather__", "__wipe", "weather__a b", "constructor"];
    const refused = await run(agent, { approve: ["drive_delete", ...wrong] }, user);
    expect([refused.status, refused.body.error.type]).toEqual([400, "invalid_input"]);
    const places = refused.body.error.details.map(({ loc }: { loc: unknown[] }) => loc.join("."));
    expect(places).toEqual([...wrong.map((_, at) => `body.approve.${at + 1}`), "body.input"]);
    expect(refused.body.error.details[0].message).toContain("drive_delet");
  });
});

describe("a revision_id", () => {
  test("of the wrong type is reported, also for an unpublished agent", async () => {
    const json = { name: "Unpublished", goal: "Do it.", tools: [], model: "admin/llm" };
    const { id } = (await call("POST", "/v1/agents", { json })).body;
    for (const revision_id of [5, null, [], ""]) {
      const answer = await run(id, { revision_id, max_steps: 0 });
      expect([answer.status, answer.body.error.type], JSON.stringify(revision_id)).toEqual([400, "invalid_input"]);
      const places = answer.body.error.details.map(({ loc }: { loc: unknown[] }) => loc.join("."));
      expect(new Set(places)).toEqual(new Set(["body.revision_id", "body.max_steps"]));
    }
    const left = await run(id, { max_steps: 0 });
    expect([left.status, left.body.error.type]).toEqual([400, "agent_not_published"]);
    expect((await run(id, { revision_id: "rev_unknown" })).status).toBe(404);
  });
});
