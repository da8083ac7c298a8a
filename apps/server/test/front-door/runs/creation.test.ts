import { describe, expect, test } from "vitest";
import { gate, type Seen, useRunsPlatform } from "../../support/runs-platform.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, run, start } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const post = (path: string, init: RequestInit & { headers?: Record<string, string> }) =>
  fetch(platform.gantry.url + path, {
    method: "POST",
    ...init,
    headers: { "x-api-key": platform.gantry.adminKey, "content-type": "application/json", ...init.headers },
  }).then(async (answer) => ({ status: answer.status, body: (await answer.json()) as Seen }));

describe("creating a run", () => {
  test("refuses an input against the agent's schema, all faults in details", async () => {
    const agent = await makeAgent({
      input_schema: {
        type: "object",
        properties: { city: { type: "string" }, days: { type: "integer", maximum: 7 } },
        required: ["city"],
        additionalProperties: false,
      },
    });
    const answer = await run(agent, { input: { days: 9, more: 1 }, max_steps: 0, whatever: true });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ type: "invalid_input", code: "invalid_input" });
    const places = answer.body.error.details.map(({ loc }: { loc: string[] }) => loc.join("."));
    expect(places).toContain("body.max_steps");
    expect(places).toContain("body.whatever");
    expect(places).toContain("body.input.days");
    expect(places.filter((place: string) => place.startsWith("body.input")).length).toBe(3);
    expect(platform.llm.requests).toEqual([]);
  });

  test.each([
    ["nothing", {}, "body.input"],
    ["an input that is not an object", { input: [] }, "body.input"],
    ["an input that is null", { input: null }, "body.input"],
    ["a wait beyond a minute", { input: {}, wait: 61 }, "body.wait"],
    ["no steps", { input: {}, max_steps: 0 }, "body.max_steps"],
    ["half a step", { input: {}, max_steps: 1.5 }, "body.max_steps"],
    ["no time", { input: {}, timeout_seconds: 0 }, "body.timeout_seconds"],
    ["a cost below zero", { input: {}, max_cost: -1 }, "body.max_cost"],
    ["a revision that is not a string", { input: {}, revision_id: 7 }, "body.revision_id"],
    ["an unknown connector", { input: {}, connectors: ["mail"] }, "body.connectors.0"],
    ["an unknown field", { input: {}, priority: 1 }, "body.priority"],
  ])("refuses %s", async (_, json, place) => {
    const answer = await call("POST", `/v1/agents/${await makeAgent()}/runs`, { json });
    expect(answer.status, answer.text).toBe(400);
    expect(answer.body.error.type).toBe("invalid_input");
    expect(answer.body.error.details.map(({ loc }: { loc: string[] }) => loc.join("."))).toContain(place);
  });

  test("refuses bodies that are not JSON, too large, nested too deeply or cannot be stored", async () => {
    const path = `/v1/agents/${await makeAgent()}/runs`;
    for (const body of ["{", "[]", '"text"', '{"input": {"a": 1e999}}', '{"input": {"a": "\\u0000"}}', "null"]) {
      const answer = await post(path, { body });
      expect(answer.status, body).toBe(400);
      expect(answer.body.error.type, body).toBe("invalid_input");
    }
    const deep = `{"input":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}`;
    expect((await post(path, { body: deep })).status).toBe(400);
    expect((await post(path, { body: deep, headers: { "idempotency-key": "deep" } })).status).toBe(400);
    const large = JSON.stringify({ input: { text: "x".repeat(2_000_000) } });
    expect((await post(path, { body: large })).status).toBe(400);
    const form = await post(path, {
      body: "input=1",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expect(form.status).toBe(400);
  });

  test("bounds the time of a hostile pattern", async () => {
    const agent = await makeAgent({
      input_schema: { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } },
    });
    const startedAt = Date.now();
    const answer = await run(agent, { input: { a: `${"a".repeat(60)}!` } });
    expect(answer.status).toBe(400);
    expect(Date.now() - startedAt).toBeLessThan(20_000);
  });

  test("accepts any revision of the caller's own agent, and none of another user's", async () => {
    const agent = await makeAgent({ visibility: "public", goal: "Old." });
    const old = (await call("GET", `/v1/agents/${agent}`)).body.published_revision_id;
    await call("PATCH", `/v1/agents/${agent}`, { json: { goal: "New." } });
    const draft = (await call("GET", `/v1/agents/${agent}`)).body.latest_revision_id;
    expect((await run(agent)).body.revision_id).toBe(old);
    const tried = await run(agent, { revision_id: draft });
    expect(tried.body).toMatchObject({ status: "done", revision_id: draft });
    expect(platform.llm.requests.at(-1)?.messages.at(-1)?.content).toContain("New.");
    expect((await run(agent, { revision_id: "rev_unknown" })).status).toBe(404);
    const other = await platform.newUser();
    const refused = await run(agent, { revision_id: old }, other);
    expect(refused.status).toBe(403);
    expect(refused.body.error.type).toBe("forbidden");
  });

  test("needs a published revision and a visible agent", async () => {
    const json = { name: "Draft", goal: "Do it.", tools: [], model: "admin/llm", visibility: "public" };
    const draft = (await call("POST", "/v1/agents", { json })).body.id;
    const unpublished = await run(draft);
    expect(unpublished.status).toBe(400);
    expect(unpublished.body.error.type).toBe("agent_not_published");
    const other = await platform.newUser();
    const hidden = await makeAgent();
    expect((await run(hidden, {}, other)).status).toBe(404);
    expect((await call("GET", `/v1/agents/${hidden}/runs`, other)).status).toBe(404);
    for (const unknown of ["agt_unknown", "x", "agt_0000000000000000000000"]) {
      expect((await run(unknown)).status).toBe(404);
      expect((await call("GET", `/v1/agents/${unknown}/runs`)).status).toBe(404);
    }
    // The agent is checked before the request.
    expect((await run(hidden, { max_steps: 0 }, other)).status).toBe(404);
  });

  test("needs a key that can use the agent's model", async () => {
    const agent = await makeAgent({ visibility: "public" });
    expect((await run(agent, {}, { key: "" })).status).toBe(401);
    const confined = await platform.newUser({ key: { models: ["gantry/text"] } });
    const refused = await run(agent, {}, confined);
    expect(refused.status).toBe(403);
    expect(refused.body.error.type).toBe("forbidden");
  });

  test("is refused without funds, and counts against the plan's minute", async () => {
    const agent = await makeAgent({ visibility: "public" });
    const poor = await platform.newUser({ credit: -1 });
    const refused = await run(agent, {}, poor);
    expect(refused.status).toBe(403);
    expect(refused.body.error.type).toBe("insufficient_funds");
    const user = await platform.newUser({ plan: "free" });
    const first = await run(agent, { wait: 0 }, user);
    expect(first.headers.get("x-ratelimit-limit")).toBe("60");
    expect(first.headers.get("x-ratelimit-remaining")).toBe("59");
    expect(Number(first.headers.get("x-ratelimit-reset"))).toBeGreaterThan(0);
    const path = `/v1/agents/${agent}/runs`;
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => call("POST", path, { json: { input: {} }, ...user })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(59);
    const [limited] = answers.filter(({ status }) => status === 429);
    expect(limited?.body.error.type).toBe("rate_limit");
    expect(Number(limited?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(limited?.headers.get("x-ratelimit-remaining")).toBe("0");
    await waitFor("all of them to end", async () => {
      const { body } = await call("GET", "/v1/runs?status=done&limit=1", user);
      return body.total === 60;
    });
  });

  test("waits as long as requested", async () => {
    const held = gate();
    platform.llm.script = async () => {
      await held.promise;
      return { text: "late" };
    };
    const agent = await makeAgent();
    const startedAt = Date.now();
    const answer = await run(agent, { wait: 0.5 });
    expect(answer.body.status).toBe("running");
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(450);
    const waiting = call("GET", `/v1/runs/${answer.body.id}?wait=10`);
    held.open();
    expect((await waiting).body).toMatchObject({ status: "done", output: { text: "late" } });
    expect((await call("GET", `/v1/runs/${answer.body.id}?wait=61`)).status).toBe(400);
    expect((await call("GET", `/v1/runs/${answer.body.id}?wait=x`)).status).toBe(400);
  });
});

describe("an Idempotency-Key", () => {
  const withKey = (key: string) => ({ headers: { "idempotency-key": key } });

  test("makes repeats return the same run, running or ended, also concurrently", async () => {
    const held = gate();
    platform.llm.script = async () => {
      await held.promise;
      return { text: "once" };
    };
    const agent = await makeAgent();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => run(agent, { input: { thing: 1 }, wait: 0 }, withKey("a"))),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
    const ids = new Set(answers.map(({ body }) => body.id));
    expect(ids.size).toBe(1);
    const repeat = run(agent, { input: { thing: 1 }, wait: 10 }, withKey("a"));
    held.open();
    expect((await repeat).body).toMatchObject({ id: [...ids][0], status: "done" });
    expect((await run(agent, { input: { thing: 1 } }, withKey("a"))).body.id).toBe([...ids][0]);
    expect(platform.llm.requests).toHaveLength(1);
    expect((await call("GET", `/v1/agents/${agent}/runs`)).body.total).toBe(1);
  });

  test("refuses another request, and is scoped to user and agent", async () => {
    const agent = await makeAgent({ visibility: "public" });
    const first = await run(agent, { input: { thing: 1 } }, withKey("b"));
    const other = await run(agent, { input: { thing: 2 } }, withKey("b"));
    expect(other.status).toBe(422);
    expect(other.body.error.type).toBe("idempotency_key_reused");
    const user = await platform.newUser();
    const theirs = await run(agent, { input: { thing: 2 } }, { ...user, ...withKey("b") });
    expect(theirs.status).toBe(201);
    expect(theirs.body.id).not.toBe(first.body.id);
    const elsewhere = await run(await makeAgent(), { input: { thing: 2 } }, withKey("b"));
    expect(elsewhere.body.status).toBe("done");
    for (const bad of ["", "x".repeat(256)]) expect((await run(agent, {}, withKey(bad))).status).toBe(400);
  });

  test("returns the first answer although funds, schema and model have changed", async () => {
    const user = await platform.newUser({ credit: 1 });
    const agent = await makeAgent({}, user.key);
    const first = await run(agent, { input: { thing: 1 } }, { ...user, ...withKey("c") });
    expect(first.body.status).toBe("done");
    await call("PATCH", `/v1/agents/${agent}`, {
      json: { input_schema: { type: "object", required: ["other"] } },
      ...user,
    });
    await call("POST", `/v1/agents/${agent}/publish`, { json: {}, ...user });
    await call("POST", `/api/v2/admin/users/${user.name}/credits`, { json: { amount: -5, reason: "gone" } });
    const repeat = await run(agent, { input: { thing: 1 } }, { ...user, ...withKey("c") });
    expect(repeat.status, repeat.text).toBe(201);
    expect(repeat.body.id).toBe(first.body.id);
  });

  test("is released after a cancelled or internal outcome, and after a refusal", async () => {
    const agent = await makeAgent({ input_schema: { type: "object", required: ["thing"] } });
    expect((await run(agent, {}, withKey("d"))).status).toBe(400);
    platform.llm.script = () => new Promise(() => {});
    const id = await start(agent, { input: { thing: 1 } }, withKey("d"));
    await waitFor("the model to be called", () => platform.llm.open === 1);
    await call("POST", `/v1/runs/${id}/cancel`);
    platform.llm.script = () => ({ status: 400 });
    const failed = await run(agent, { input: { thing: 1 } }, withKey("d"));
    expect(failed.body).toMatchObject({ status: "error", error: { type: "internal" } });
    expect(failed.body.id).not.toBe(id);
    platform.llm.script = () => ({ text: "at last" });
    const last = await run(agent, { input: { thing: 1 } }, withKey("d"));
    expect(last.body).toMatchObject({ status: "done" });
    expect(last.body.id).not.toBe(failed.body.id);
  });
});

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
