import { describe, expect, onTestFinished, test } from "vitest";
import { startGantry } from "../../support/gantry.ts";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { newUser, makeAgent, run, start, read, ended, events, types } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
/** Counts the listeners that stay on signals. Each keeps what its function refers to. */
function watchListeners(): { most(): number } {
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  const counts = new Map<EventTarget, number>();
  const count = (target: EventTarget, change: number) => {
    if (target instanceof AbortSignal) counts.set(target, (counts.get(target) ?? 0) + change);
  };
  EventTarget.prototype.addEventListener = function (...given) {
    count(this, 1);
    addEventListener.apply(this, given);
  };
  EventTarget.prototype.removeEventListener = function (...given) {
    count(this, -1);
    removeEventListener.apply(this, given);
  };
  onTestFinished(() => void Object.assign(EventTarget.prototype, { addEventListener, removeEventListener }));
  return { most: () => Math.max(...counts.values()) };
}

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
      agent_name: expect.stringMatching(/^Agent /),
      revision_id: expect.stringMatching(/^rev_/),
      status: "done",
      phase: "ended",
      input: { thing: "the work" },
      output: { text: "It is done." },
      usage: { input_tokens: 120, output_tokens: 30, cached_tokens: 0, cache_write_tokens: 0 },
      cost: 0.00042,
      parent_run_id: null,
      duration_ms: expect.any(Number),
      worked_ms: expect.any(Number),
      waited_ms: expect.any(Number),
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

  test("of many model calls keeps none of their requests in memory", async () => {
    const listeners = watchListeners();
    platform.llm.script = (_, n) =>
      n < 20 ? { calls: [{ name: "run_javascript", args: { code: `${n}` } }] } : { text: "Done." };
    const { body } = await run(await makeAgent({ tools: ["run_javascript"] }));
    expect(body.status).toBe("done");
    expect(listeners.most()).toBeLessThan(10);
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

test("a run does not end before it started, even if the clock is set back meanwhile", async () => {
  const held = gate();
  platform.llm.script = async () => {
    await held.promise;
    return { text: "done" };
  };
  const id = await platform.start(await platform.makeAgent());
  await waitFor("the model to be asked", () => platform.llm.requests.length === 1);
  // As if the clock had been set back by an hour.
  await platform.gantry.database.sql`
    update runs set created_at = created_at + interval '1 hour', started_at = started_at + interval '1 hour'
    where id = ${id}`;
  held.open();
  const run = await platform.ended(id);
  expect(run).toMatchObject({ status: "done", duration_ms: 0, completed_at: run.created_at });
  const last = (await platform.events(id)).at(-1);
  expect(last.message).toBe("The run finished in 1 steps, 0 ms.");
});

test("model calls of a run are in the usage, and cannot be fetched, followed or cancelled as predictions", async () => {
  const user = await newUser();
  const agent = await makeAgent({ model: "admin/llm" }, user.key);
  const held = gate();
  platform.llm.script = async () => {
    await held.promise;
    return { text: "The answer." };
  };
  const id = await start(agent, {}, user);
  const { sql } = platform.gantry.database;
  let live: string | undefined;
  await waitFor("the call to be under way", async () => {
    [live] = (await sql<{ id: string }[]>`select id from live_predictions where route = 'agent'`).map((row) => row.id);
    return live !== undefined;
  });
  const path = "/api/v1/admin/llm/predict";
  const lines = { key: user.key, headers: { accept: "application/x-ndjson" } };
  async function isUnknown(predictionId = ""): Promise<void> {
    const query = `${path}/async/result/?request_id=${predictionId}`;
    const answers = [
      await call("GET", query, user),
      await call("GET", query, lines),
      await call("POST", `${path}/cancel?prediction_id=${predictionId}`, user),
    ];
    for (const { status, text } of answers) {
      expect(status, text).toBe(404);
      expect(text).toContain("Prediction not found");
    }
  }
  await isUnknown(live);
  held.open();
  expect(await ended(id, user.key)).toMatchObject({ status: "done", output: { text: "The answer." } });
  const [used] = (await call("GET", "/api/v2/usage", user)).body.results;
  expect(used).toMatchObject({ request_id: live, status: 200 });
  await isUnknown(live);
});
