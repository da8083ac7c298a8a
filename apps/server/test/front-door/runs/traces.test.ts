import { describe, expect, test } from "vitest";
import { gate, type Seen, useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, type LlmAnswer } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform({ pricing: { per_million_input_tokens: 10, per_million_output_tokens: 20 } });
const { makeAgent, run, start, ended, read } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);

const js = (code: string): LlmAnswer => ({ text: "Let me see.", calls: [{ name: "run_javascript", args: { code } }] });
const calling = (name: string, args: object = {}): LlmAnswer => ({ calls: [{ name, args }] });
const asking = { tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] };

async function trace(runId: string, key?: string): Promise<Seen> {
  const answer = await call("GET", `/v1/runs/${runId}/trace`, key === undefined ? {} : { key });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}
async function detail(runId: string, stepId: string, key?: string): Promise<Seen> {
  const answer = await call("GET", `/v1/runs/${runId}/trace/${stepId}`, key === undefined ? {} : { key });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}
const kinds = (seen: Seen) => seen.steps.map(({ kind, status }: Seen) => `${kind} ${status}`);
const ofKind = (seen: Seen, kind: string) => seen.steps.filter((step: Seen) => step.kind === kind);
/** Milliseconds from creation to completion. */
const wall = ({ created_at, completed_at }: Seen) => Date.parse(completed_at) - Date.parse(created_at);

async function approve(runId: string, key?: string) {
  const who = key === undefined ? {} : { key };
  const path = `/v1/runs/${runId}/confirmations`;
  const [question] = (await call("GET", path, who)).body.confirmations;
  expect((await call("POST", `${path}/${question.id}`, { json: { approve: true }, ...who })).status).toBe(200);
  return question;
}
const untilAsking = (runId: string, key?: string) =>
  waitFor("the question", async () => (await read(runId, key)).phase === "awaiting_confirmation");

describe("a trace", () => {
  test("has model calls and tools with times, tokens and cost", async () => {
    platform.llm.script = inTurn(js("6 * 7"), { text: "It is 42.", usage: { in: 200, out: 100 } });
    const agent = await makeAgent({ name: "Calculator", tools: ["run_javascript"] });
    const { body } = await run(agent);
    const seen = await trace(body.id);
    expect(seen).toMatchObject({
      run_id: body.id,
      root_run_id: body.id,
      agent: { id: agent, name: "Calculator" },
      status: "done",
      phase: "ended",
      usage: body.usage,
      cost: body.cost,
      truncated: false,
    });
    expect(kinds(seen)).toEqual(["queue done", "model done", "tool done", "model done"]);
    const [queue, first, tool, last] = seen.steps;
    expect(queue).toMatchObject({ parent_id: null, run_id: body.id, duration_ms: expect.any(Number) });
    expect(first).toMatchObject({
      name: "admin/llm",
      purpose: "working",
      prediction_id: expect.stringMatching(/^pred_/),
      queued_ms: expect.any(Number),
      first_token_ms: expect.any(Number),
      summary: "Let me see.",
    });
    expect(tool).toMatchObject({ name: "run_javascript", call_id: expect.stringMatching(/^call_/), summary: "42" });
    expect(last).toMatchObject({
      usage: { input_tokens: 200, output_tokens: 100, cached_tokens: 0, cache_write_tokens: 0 },
      cost: 0.004,
      summary: "It is 42.",
    });
    for (const step of seen.steps) {
      expect(step.duration_ms).toBe(Date.parse(step.ended_at) - Date.parse(step.started_at));
      expect(Date.parse(step.started_at)).toBeGreaterThanOrEqual(Date.parse(seen.created_at));
    }
    const starts = seen.steps.map(({ started_at }: Seen) => started_at);
    expect(starts).toEqual(starts.toSorted());
    expect(seen.worked_ms + seen.waited_ms).toBe(wall(seen));
    expect(await read(body.id)).toMatchObject({
      agent_name: "Calculator",
      worked_ms: seen.worked_ms,
      waited_ms: seen.waited_ms,
    });
    const costs = ofKind(seen, "model").map(({ cost }: Seen) => cost);
    expect(costs.reduce((a: number, b: number) => a + b)).toBeCloseTo(seen.cost, 9);
  });

  test("shows the model call that is under way", async () => {
    const hold = gate<LlmAnswer>();
    platform.llm.script = () => hold.promise;
    const id = await start(await makeAgent());
    await waitFor("the call", async () => ofKind(await trace(id), "model").length === 1);
    const seen = await trace(id);
    expect(kinds(seen)).toEqual(["queue done", "model running"]);
    const [step] = ofKind(seen, "model");
    expect(step).toMatchObject({ name: "admin/llm", purpose: "working", ended_at: null, duration_ms: null });
    expect(Date.parse(step.started_at)).toBeGreaterThan(0);
    expect((await detail(id, step.id)).messages).toMatchObject([{ role: "system" }, { role: "user" }]);
    hold.open({ text: "done" });
    await ended(id);
    // The same step, now with its answer.
    expect(await detail(id, step.id)).toMatchObject({ id: step.id, status: "done", message: { text: "done" } });
  });

  test("keeps waiting for people apart from work", async () => {
    platform.llm.script = inTurn(js("1"), { text: "done" });
    const id = await start(await makeAgent({ name: "Careful", ...asking }));
    await untilAsking(id);
    const before = await trace(id);
    expect(kinds(before)).toEqual(["queue done", "model done", "tool waiting", "wait waiting"]);
    expect(ofKind(before, "tool")[0]).toMatchObject({ started_at: null, duration_ms: null });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const question = await approve(id);
    expect(question.agent).toMatchObject({ name: "Careful" });
    await ended(id);
    const seen = await trace(id);
    expect(kinds(seen)).toEqual(["queue done", "model done", "wait done", "tool done", "model done"]);
    const [wait] = ofKind(seen, "wait");
    expect(wait).toMatchObject({ id: question.id, name: "Waiting for approval", confirmation_id: question.id });
    expect(seen.waited_ms).toBeGreaterThanOrEqual(wait.duration_ms);
    expect(wait.duration_ms).toBeGreaterThanOrEqual(300);
    expect(seen.worked_ms + seen.waited_ms).toBe(wall(seen));
    expect(await detail(id, wait.id)).toMatchObject({
      arguments: { code: "1" },
      confirmation: { id: question.id, status: "approved", agent: { name: "Careful" } },
    });
  });

  test("shows denied and cancelled calls", async () => {
    platform.llm.script = inTurn(js("1"), { text: "done" });
    const agent = await makeAgent(asking);
    const denied = await start(agent);
    await untilAsking(denied);
    const path = `/v1/runs/${denied}/confirmations`;
    const [question] = (await call("GET", path)).body.confirmations;
    await call("POST", `${path}/${question.id}`, { json: { approve: false, reason: "Too risky" } });
    await ended(denied);
    const seen = await trace(denied);
    expect(ofKind(seen, "tool")).toMatchObject([{ status: "denied", started_at: null }]);
    expect(ofKind(seen, "wait")).toMatchObject([{ status: "denied", summary: "run_javascript: Too risky" }]);
    platform.llm.script = inTurn(js("1"), { text: "done" });
    const cancelled = await start(agent);
    await untilAsking(cancelled);
    await call("POST", `/v1/runs/${cancelled}/cancel`);
    await ended(cancelled);
    for (const { status } of (await trace(cancelled)).steps) expect(["waiting", "running"]).not.toContain(status);
  });

  test("has the calls that failed, and what was tried again", async () => {
    // The driver has retried before the run does.
    platform.llm.script = (_, n) => (n <= 3 ? { status: 503, retryAfter: 0 } : { text: "done" });
    const { body } = await run(await makeAgent());
    expect(body.status).toBe("done");
    const seen = await trace(body.id);
    expect(kinds(seen)).toEqual(["queue done", "model error", "model done"]);
    const [failed] = ofKind(seen, "model");
    expect(failed.summary).toEqual(expect.any(String));
    expect(await detail(body.id, failed.id)).toMatchObject({ status: "error", messages: [{}, {}] });
    platform.llm.script = () => ({ status: 400 });
    const lost = await run(await makeAgent());
    expect(lost.body.status).toBe("error");
    expect(ofKind(await trace(lost.body.id), "model").at(-1)).toMatchObject({ status: "error" });
  });

  test("contains the steps of sub-agents below the call", async () => {
    const child = await makeAgent({ name: "Inner", goal: "Inner {{x}}.", ...asking });
    const top = await makeAgent({
      name: "Outer",
      goal: "Outer.",
      tools: [{ type: "agent", agent_id: child, name: "inner" }],
    });
    platform.llm.script = ({ messages }) => {
      const isInner = messages.some(({ content }) => content?.startsWith("Inner"));
      if (messages.at(-1)?.role === "tool") return { text: isInner ? "inner done" : "outer done" };
      return isInner ? js("2") : calling("inner", { x: "y" });
    };
    const id = await start(top);
    await untilAsking(id);
    expect(await approve(id)).toMatchObject({ agent: { id: child, name: "Inner" } });
    await ended(id);
    const seen = await trace(id);
    const [agent] = ofKind(seen, "agent");
    expect(agent).toMatchObject({
      name: "Inner",
      parent_id: null,
      child_run_id: expect.stringMatching(/^run_/),
      status: "done",
    });
    expect(agent.usage.input_tokens).toBe(200);
    const inner = seen.steps.filter((step: Seen) => step.run_id === agent.child_run_id);
    expect(inner.map(({ kind }: Seen) => kind)).toEqual(["queue", "model", "wait", "tool", "model"]);
    for (const step of inner) expect(step.parent_id).toBe(agent.id);
    expect(seen.worked_ms + seen.waited_ms).toBe(wall(seen));
    expect(seen.waited_ms).toBeGreaterThanOrEqual(ofKind(seen, "wait")[0].duration_ms);
    const own = await trace(agent.child_run_id);
    expect(own).toMatchObject({ run_id: agent.child_run_id, root_run_id: id, agent: { name: "Inner" } });
    for (const step of own.steps) expect(step.parent_id).toBeNull();
    expect(await detail(id, agent.id)).toMatchObject({ arguments: { x: "y" }, is_error: false });
    expect((await detail(id, inner[1].id)).messages[1].content).toContain("Inner y.");
  });

  test("is found by its caller only, step by step", async () => {
    const { body } = await run(await makeAgent());
    const other = await platform.newUser();
    const [first] = (await trace(body.id)).steps;
    for (const path of ["trace", `trace/${first.id}`]) {
      expect((await call("GET", `/v1/runs/${body.id}/${path}`, { key: other.key })).status).toBe(404);
    }
    for (const id of ["x", "pred_x", `${body.id}-9-9`, "conf_1"]) {
      expect((await call("GET", `/v1/runs/${body.id}/trace/${id}`)).status, id).toBe(404);
    }
    expect((await call("GET", "/v1/runs/run_x/trace")).status).toBe(404);
  });
});

test("shows what is known of a model call whose prediction has expired", async () => {
  const { body } = await run(await makeAgent());
  const [, before] = (await trace(body.id)).steps;
  await platform.gantry.database.sql`delete from ended_predictions where id = ${before.id}`;
  const seen = await trace(body.id);
  const { id, name, usage, cost, summary } = before;
  expect(seen.steps[1]).toMatchObject({ id, name, usage, cost, summary, started_at: null, duration_ms: null });
  expect(seen.worked_ms + seen.waited_ms).toBe(wall(seen));
});

test("ends after 2,000 steps, with short summaries", async () => {
  const { body } = await run(await makeAgent());
  const { sql } = platform.gantry.database;
  const message = { text: "word ".repeat(1000), toolCalls: [{ id: "a", name: "run_javascript", arguments: {} }] };
  await sql`
    insert into run_steps (run_id, n, kind, message, prediction_id)
    select ${body.id}, n, 'work', ${JSON.stringify(message)}::text::json, 'pred_' || n from generate_series(2, 1200) n`;
  await sql`
    insert into run_calls (run_id, step, position, call_id, tool, arguments, kind, status, result, is_error, started_at, ended_at)
    select ${body.id}, n, 0, 'a', 'run_javascript', '{}', 'read', 'ended', repeat('x', 10000), false, now(), now()
    from generate_series(2, 1200) n`;
  const seen = await trace(body.id);
  expect(seen.truncated).toBe(true);
  expect(seen.steps).toHaveLength(2000);
  for (const { summary } of seen.steps) expect((summary ?? "").length).toBeLessThanOrEqual(200);
  const last = await detail(body.id, "pred_1200");
  expect(JSON.stringify(last).length).toBeLessThan(1_300_000);
  expect(last.omitted_messages).toBeGreaterThan(0);
});

describe("the details of a model call", () => {
  test("have the messages as they were sent, and masked arguments", async () => {
    platform.llm.script = inTurn(js("6 * 7"), { text: "It is 42.", reasoning: "Quite clear." });
    const { body } = await run(await makeAgent({ tools: ["run_javascript"] }), { input: { thing: "sums" } });
    const [, first, tool, last] = (await trace(body.id)).steps;
    expect(await detail(body.id, first.id)).toMatchObject({
      message: { text: "Let me see.", tool_calls: [{ tool: "run_javascript", arguments: { code: "6 * 7" } }] },
    });
    const seen = await detail(body.id, last.id);
    expect(seen.message).toEqual({ text: "It is 42.", reasoning: "Quite clear." });
    expect(seen.omitted_messages).toBe(0);
    const sent = platform.llm.requests.at(-1)?.messages ?? [];
    expect(seen.messages.map(({ role, content }: Seen) => [role, content])).toEqual(
      sent.map(({ role, content }) => [role, content ?? ""]),
    );
    expect(seen.messages[2].tool_calls).toEqual([
      { call_id: tool.call_id, tool: "run_javascript", arguments: { code: "6 * 7" } },
    ]);
    expect(seen.messages[3]).toMatchObject({ role: "tool", tool: "run_javascript", call_id: tool.call_id });
    expect(await detail(body.id, tool.id)).toMatchObject({
      arguments: { code: "6 * 7" },
      result: "42",
      is_error: false,
    });
  });

  test("show a caller of another user's agent no more than events do", async () => {
    const [creator, caller] = [await platform.newUser(), await platform.newUser()];
    const agent = await makeAgent(
      {
        visibility: "public",
        goal: "PRIVATE goal",
        instructions: { tool_calling: "PRIVATE rule", formatting: "PRIVATE format" },
        tools: [{ type: "tool", id: "http_request", arguments: { url: "https://PRIVATE.example/" } }],
      },
      creator.key,
    );
    platform.llm.script = inTurn(
      calling("http_request"),
      { text: "PRIVATE draft, before it is formatted" },
      { text: "the answer" },
    );
    const { body } = await run(agent, {}, caller);
    expect(body.status, JSON.stringify(body)).toBe("done");
    const seen = await trace(body.id, caller.key);
    expect(ofKind(seen, "model").map(({ summary }: Seen) => summary)).toEqual([null, null, "the answer"]);
    const details: Seen[] = [];
    for (const step of seen.steps) details.push(await detail(body.id, step.id, caller.key));
    for (const step of details) expect(step).not.toHaveProperty("messages");
    expect(JSON.stringify([seen, details])).not.toContain("PRIVATE");
    expect(details.find(({ kind }) => kind === "tool").arguments.url).toBe("[fixed]");
    expect((await call("GET", `/v1/runs/${body.id}/trace`, { key: creator.key })).status).toBe(404);
    platform.llm.script = inTurn({ text: "draft" }, { text: "the answer" });
    const own = await run(agent, {}, creator);
    const [, mine] = (await trace(own.body.id, creator.key)).steps;
    expect(JSON.stringify(await detail(own.body.id, mine.id, creator.key))).toContain("PRIVATE goal");
  });

  test("name a private sub-agent of another user as its tool, and no private model", async () => {
    const [creator, caller] = [await platform.newUser(), await platform.newUser()];
    await platform.makeModel("hidden", { visibility: "private" }, creator);
    const model = `${creator.name}/hidden`;
    const inner = await makeAgent({ name: "PRIVATE inner", goal: "Inner." }, creator.key);
    const tools = [{ type: "agent", agent_id: inner, name: "helper" }];
    const agent = await makeAgent({ name: "Shop", visibility: "public", goal: "Outer.", tools, model }, creator.key);
    platform.llm.script = ({ messages }) =>
      messages.some(({ content }) => content === "Outer.") && messages.at(-1)?.role !== "tool"
        ? calling("helper")
        : { text: "done" };
    const { body } = await run(agent, {}, caller);
    const seen = await trace(body.id, caller.key);
    expect(ofKind(seen, "agent")).toMatchObject([{ name: "helper", status: "done" }]);
    const child = ofKind(seen, "agent")[0].child_run_id;
    expect(await read(child, caller.key)).toMatchObject({ agent_name: "helper" });
    const { body: predictions } = await call("GET", `/api/v2/predictions?run_id=${child}`, { key: caller.key });
    expect(predictions.results).toMatchObject([{ agent: { id: inner, name: "helper" } }]);
    expect(ofKind(seen, "model").map(({ name }: Seen) => name)).toEqual(["Model", "admin/llm", "Model"]);
    await platform.gantry.database.sql`delete from ended_predictions where model_name = ${model}`;
    const later = await trace(body.id, caller.key);
    expect(JSON.stringify([seen, later, predictions, await trace(child, caller.key)])).not.toMatch(/PRIVATE|hidden/);
  });
});
