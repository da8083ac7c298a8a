import { describe, expect, test } from "vitest";
import { startGantry } from "../../support/gantry.ts";
import { gate, type Seen, useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, run, start, read, ended, events, types } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const post = (path: string, init: RequestInit & { headers?: Record<string, string> }) =>
  fetch(platform.gantry.url + path, {
    method: "POST",
    ...init,
    headers: { "x-api-key": platform.gantry.adminKey, "content-type": "application/json", ...init.headers },
  }).then(async (answer) => ({ status: answer.status, body: (await answer.json()) as Seen }));

describe("a run", () => {
  test("of one model call sends the rendered goal, returns the answer, and counts usage and cost", async () => {
    platform.llm.script = () => ({ text: "It is done.", usage: { in: 120, out: 30 } });
    const agent = await makeAgent();
    const before = (await call("GET", "/api/v2/me")).body.balance;
    const answer = await run(agent, { input: { thing: "the work" } });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^run_/),
      agent_id: agent,
      revision_id: expect.stringMatching(/^rev_/),
      status: "done",
      phase: "ended",
      input: { thing: "the work" },
      output: { text: "It is done." },
      usage: { input_tokens: 120, output_tokens: 30, cached_tokens: 0, cache_write_tokens: 0 },
      cost: 0.00042,
      parent_run_id: null,
      duration_ms: expect.any(Number),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      completed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect(Number.isInteger(answer.body.duration_ms)).toBe(true);
    expect(platform.llm.requests).toHaveLength(1);
    expect(platform.llm.requests[0]?.messages.at(-1)?.content).toContain("Do the work.");
    expect(platform.llm.requests[0]).not.toHaveProperty("tools");
    expect(await types(answer.body.id)).toEqual(["planning", "completed"]);
    const after = (await call("GET", "/api/v2/me")).body;
    expect(before - after.balance).toBeCloseTo(0.00042, 6);
    expect(after.reserved).toBe(0);
    const usage = (await call("GET", "/api/v2/usage?page_size=1")).body.results[0];
    expect(usage).toMatchObject({ model_name: "admin/llm", route: "agent", status: 200, price: 0.00042 });
  });

  test("is written once at its start, once per step with its calls, and once per finished call", async () => {
    const code = (text: string) => ({ calls: [{ name: "run_javascript", args: { code: text } }] });
    platform.llm.script = inTurn(code("1"), code("2"), { text: "Done." });
    const { body } = await run(await makeAgent({ tools: ["run_javascript"] }));
    expect(body.status).toBe("done");
    const rows = await platform.gantry.database.sql<
      { writes: number }[]
    >`select writes from runs where id = ${body.id}`;
    expect(rows).toEqual([{ writes: 1 + 3 + 2 }]);
  });

  test("calls several tools of one step in parallel and returns their results to the model", async () => {
    platform.llm.script = inTurn(
      {
        text: "Let me compute.",
        calls: [
          { name: "run_javascript", args: { code: "6 * 7" } },
          { name: "run_javascript", args: { code: "'a' + 'b'" } },
        ],
      },
      { text: "42 and ab" },
    );
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }));
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { text: "42 and ab" } });
    const list = await events(answer.body.id);
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const call_id = expect.any(String);
    expect(list).toEqual([
      { type: "planning", timestamp, message: expect.any(String) },
      { type: "reasoning", timestamp, message: "Let me compute." },
      { type: "tool_call", timestamp, tool: "run_javascript", arguments: { code: "6 * 7" }, call_id },
      { type: "tool_call", timestamp, tool: "run_javascript", arguments: { code: "'a' + 'b'" }, call_id },
      { type: "tool_result", timestamp, tool: "run_javascript", result: expect.stringMatching(/42|ab/), call_id },
      { type: "tool_result", timestamp, tool: "run_javascript", result: expect.stringMatching(/42|ab/), call_id },
      { type: "completed", timestamp, message: expect.stringMatching(/2 steps/) },
    ]);
    const [first, second] = toolResults(platform.llm.requests[1]);
    expect(first).toContain("42");
    expect(second).toContain("ab");
  });

  test("makes 64 calls of one step and reports the others as not made", async () => {
    const calls = Array.from({ length: 70 }, (_, n) => ({ name: "run_javascript", args: { code: `${n} + 1000` } }));
    platform.llm.script = inTurn({ calls }, { text: "enough" });
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }));
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { text: "enough" } });
    const told = toolResults(platform.llm.requests[1]);
    expect(told).toHaveLength(70);
    for (const [n, result] of told.slice(0, 64).entries()) expect(result).toContain(String(n + 1000));
    for (const result of told.slice(64)) expect(result).toMatch(/first 64 calls of a step.* was not made/);
    // As durable as any other result: in the events, and in what the next claim would tell the model.
    const list = await events(answer.body.id);
    expect(list.filter(({ type }) => type === "tool_call")).toHaveLength(70);
    const results = list.filter(({ type }) => type === "tool_result").map(({ result }) => result);
    expect(results).toHaveLength(70);
    expect(results.filter((result) => /was not made/.test(result))).toHaveLength(6);
    const stored = await platform.gantry.database.sql`
      select kind, status, is_error, count(*)::int as n from run_calls where run_id = ${answer.body.id}
      group by 1, 2, 3 order by n`;
    expect([...stored]).toEqual([
      { kind: "none", status: "ended", is_error: true, n: 6 },
      { kind: "read", status: "ended", is_error: false, n: 64 },
    ]);
  });

  test("on a fresh machine uses the rule-based default model, and the first event says so", async () => {
    const agent = await makeAgent({
      model: "anthropic/default",
      goal: "Run the program with run_javascript.",
      tools: ["run_javascript"],
      input_schema: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
      output_schema: { type: "object", properties: { result: {} }, required: ["result"] },
    });
    const answer = await run(agent, { input: { code: "2 + 3" } });
    expect(answer.body, answer.text).toMatchObject({ status: "done" });
    expect(JSON.stringify(answer.body.output)).toContain("5");
    const [first] = await events(answer.body.id);
    expect(first).toMatchObject({ type: "planning", message: expect.stringContaining("gantry/rules") });
  });

  test("shows its status and phase while it works", async () => {
    const plan = gate();
    const work = gate();
    const form = gate();
    platform.llm.script = async (request) => {
      const n = platform.llm.requests.indexOf(request) + 1;
      if (n === 1) {
        await plan.promise;
        return { text: "First this, then that." };
      }
      if (n === 2) {
        await work.promise;
        return { text: "So it is." };
      }
      await form.promise;
      return { text: "SO IT IS" };
    };
    const agent = await makeAgent({ instructions: { planning: "Make a plan.", formatting: "Shout." } });
    const answer = await run(agent, { wait: 0 });
    // A worker may be faster than the answer.
    expect(["pending queued", "running queued", "running planning"]).toContain(
      `${answer.body.status} ${answer.body.phase}`,
    );
    expect(answer.body.cost).toBe(0);
    expect(answer.body).not.toHaveProperty("completed_at");
    expect(answer.body).not.toHaveProperty("duration_ms");
    expect(answer.body).not.toHaveProperty("output");
    const { id } = answer.body;
    await waitFor("the plan to be asked for", () => platform.llm.requests.length === 1);
    expect(await read(id)).toMatchObject({ status: "running", phase: "planning" });
    plan.open();
    await waitFor("the work to begin", () => platform.llm.requests.length === 2);
    expect(await read(id)).toMatchObject({ status: "running", phase: "working", usage: { input_tokens: 100 } });
    work.open();
    await waitFor("the answer to be formatted", () => platform.llm.requests.length === 3);
    expect(await read(id)).toMatchObject({ status: "running", phase: "formatting" });
    form.open();
    expect(await ended(id)).toMatchObject({ status: "done", phase: "ended", output: { text: "SO IT IS" } });
  });

  test("is pending without a worker, and can be cancelled", async () => {
    const idle = await startGantry({ env: { GANTRY_ROLE: "api" } });
    try {
      const json = { name: "Idle", goal: "Wait.", tools: [] };
      const { id: agent } = (await idle.call("POST", "/v1/agents", { json })).body;
      await idle.call("POST", `/v1/agents/${agent}/publish`, { json: {} });
      const made = await idle.call("POST", `/v1/agents/${agent}/runs`, { json: { input: {}, wait: 1 } });
      expect(made.body).toMatchObject({ status: "pending", phase: "queued", cost: 0 });
      const over = await idle.call("POST", `/v1/runs/${made.body.id}/cancel`);
      expect(over.body).toMatchObject({ status: "error", phase: "ended", error: { type: "cancelled" } });
    } finally {
      await idle.close();
    }
  });

  test("counts cached tokens and repeated calls at their own price", async () => {
    await platform.makeModel("caching", {
      pricing: { per_million_input_tokens: 10, per_million_cached_tokens: 1, per_million_output_tokens: 10 },
    });
    const user = await platform.newUser({ credit: 1 });
    const agent = await makeAgent({ model: "admin/caching", tools: ["run_javascript"] }, user.key);
    platform.llm.script = inTurn(
      { status: 500 },
      { calls: [{ name: "run_javascript", args: { code: "1" } }], usage: { in: 200, out: 100 } },
      { text: "one", usage: { in: 300, out: 10, cached: 100 } },
    );
    const { body } = await run(agent, {}, user);
    expect(body).toMatchObject({
      status: "done",
      usage: { input_tokens: 500, output_tokens: 110, cached_tokens: 100 },
      cost: 0.0052,
    });
    const { results } = (await call("GET", "/api/v2/usage", user)).body;
    const paid = results.reduce((sum: number, row: { price: number }) => sum + row.price, 0);
    expect(paid).toBeCloseTo(body.cost, 9);
    expect((await call("GET", "/api/v2/me", user)).body.balance).toBeCloseTo(1 - body.cost, 9);
  });

  test("whose events cannot be read: the stream ends, and the log has the cause", async () => {
    const { sql } = platform.gantry.database;
    const { id } = (await run(await makeAgent())).body;
    const logged = () =>
      platform.gantry
        .logged()
        .split("\n")
        .filter((line) => line.includes("could not follow"));
    const before = logged().length;
    await sql`alter table run_events rename to run_events_away`;
    const stream = await call("GET", `/v1/runs/${id}/events`).finally(
      () => sql`alter table run_events_away rename to run_events`,
    );
    expect(stream.status).toBe(200);
    expect(stream.text).toMatch(/^retry: \d+\s*$/);
    expect(logged().slice(before)).toEqual([expect.stringContaining(id)]);
    expect(logged().at(-1)).toContain("run_events");
    const whole = await call("GET", `/v1/runs/${id}/events`);
    expect(whole.text).toContain("event: completed");
    expect(logged().length).toBe(before + 1);
  });

  test("stays readable after its agent is deleted; a live one continues, a new one is refused", async () => {
    const held = gate();
    platform.llm.script = async () => {
      await held.promise;
      return { text: "still here" };
    };
    const agent = await makeAgent();
    const id = await start(agent);
    await waitFor("the model to be called", () => platform.llm.open === 1);
    expect((await call("DELETE", `/v1/agents/${agent}`)).status).toBe(204);
    const refused = await run(agent);
    expect(refused.status).toBe(404);
    expect(refused.body.error).toMatchObject({ type: "not_found", code: "not_found" });
    held.open();
    expect(await ended(id)).toMatchObject({ status: "done", output: { text: "still here" } });
    expect((await call("GET", `/v1/agents/${agent}/runs`)).body).toMatchObject({ total: 1, runs: [{ id }] });
  });
});

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

describe("lists of runs", () => {
  test("are newest first, with limit, offset and status", async () => {
    const user = await platform.newUser();
    const agent = await makeAgent({}, user.key);
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.unshift((await run(agent, { input: { n } }, user)).body.id);
    platform.llm.script = () => ({ status: 400 });
    const failed = (await run(agent, {}, user)).body.id;
    const idsOf = async (query: string) => {
      const { body } = await call("GET", query, user);
      return body.runs.map((one: { id: string }) => one.id);
    };
    for (const path of [`/v1/agents/${agent}/runs`, "/v1/runs"]) {
      expect(await idsOf(path)).toEqual([failed, ...ids]);
      expect((await call("GET", path, user)).body).toMatchObject({ total: 4, limit: 20, offset: 0 });
      expect(await idsOf(`${path}?limit=2&offset=1`)).toEqual(ids.slice(0, 2));
      expect(await idsOf(`${path}?status=error`)).toEqual([failed]);
      expect(await idsOf(`${path}?status=pending`)).toEqual([]);
      for (const query of ["limit=0", "limit=101", "offset=-1", "limit=x", "status=new"]) {
        const refused = await call("GET", `${path}?${query}`, user);
        expect(refused.status, query).toBe(400);
        expect(refused.body.error.type).toBe("invalid_input");
      }
    }
    const [newest] = (await call("GET", "/v1/runs?limit=1", user)).body.runs;
    expect(newest).toMatchObject({ status: "error", error: { type: "internal" }, completed_at: expect.any(String) });
    expect(newest).not.toHaveProperty("output");
    const other = await platform.newUser();
    expect((await call("GET", "/v1/runs", other)).body).toMatchObject({ total: 0, runs: [] });
  });

  test("another user's run is not found on any route", async () => {
    const { body } = await run(await makeAgent());
    const other = await platform.newUser();
    const routes: [string, string][] = [
      ["GET", ""],
      ["GET", "/events"],
      ["GET", "/events/list"],
      ["GET", "/confirmations"],
      ["POST", "/cancel"],
      ["GET", "/secrets/sec_x"],
    ];
    for (const [method, path] of routes) {
      for (const [id, who] of [
        [body.id, other],
        ["run_unknown", {}],
      ] as const) {
        const answer = await call(method, `/v1/runs/${id}${path}`, who);
        expect(answer.status, `${method} ${id}${path}`).toBe(404);
        expect(answer.body.error.type).toBe("not_found");
      }
    }
    const answered = await call("POST", `/v1/runs/${body.id}/confirmations/conf_x`, { json: { approve: true } });
    expect(answered.status).toBe(404);
    expect((await call("DELETE", `/v1/runs/${body.id}`)).status).toBe(405);
  });
});
