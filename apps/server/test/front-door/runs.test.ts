import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { type Answer, type GantryNode, startGantry } from "../support/gantry.ts";
import { inTurn, type ScriptedLlm, startScriptedLlm } from "../support/scripted-llm.ts";
import { waitFor } from "../support/wait-for.ts";

let gantry: GantryNode;
let llm: ScriptedLlm;

beforeAll(async () => {
  gantry = await startGantry();
  llm = await startScriptedLlm();
  const text = { type: "string" };
  const made = await gantry.call("PUT", "/api/v1/admin/llm", {
    json: {
      title: "A language model",
      kind: "text",
      visibility: "public",
      capacity: 50,
      context_window: 8000,
      pricing: { per_million_input_tokens: 1, per_million_output_tokens: 10 },
      input: { type: "object", properties: { prompt: text }, required: ["prompt"] },
      output: { type: "object", properties: { output: { ...text, isStream: true } } },
      backend: { type: "openai-chat", url: llm.url, model: "scripted" },
    },
  });
  expect(made.status, made.text).toBe(201);
});
afterAll(async () => {
  await gantry.close();
  await llm.close();
});
beforeEach(() => {
  llm.script = () => ({ text: "done" });
  llm.requests.length = 0;
});
afterEach(async () => {
  expect(await verifyLedger(gantry.database)).toEqual([]);
});

let agents = 0;
async function makeAgent(fields: object = {}, key?: string): Promise<string> {
  const json = { name: `Agent ${++agents}`, goal: "Do {{thing}}.", tools: [], model: "admin/llm", ...fields };
  const made = await gantry.call("POST", "/v1/agents", { json, ...(key && { key }) });
  expect(made.status, made.text).toBe(201);
  const published = await gantry.call("POST", `/v1/agents/${made.body.id}/publish`, { json: {}, ...(key && { key }) });
  expect(published.status, published.text).toBe(200);
  return made.body.id;
}

function run(agentId: string, body: object = {}, options: { key?: string; headers?: Record<string, string> } = {}) {
  return gantry.call("POST", `/v1/agents/${agentId}/runs`, { json: { input: {}, wait: 20, ...body }, ...options });
}

async function eventsOf(runId: string): Promise<Record<string, unknown>[]> {
  return (await gantry.call("GET", `/v1/runs/${runId}/events/list`)).body.events;
}

const typesOf = async (answer: Answer) => (await eventsOf(answer.body.id)).map((event) => event.type);

describe("a run", () => {
  test("of one model call: the rendered goal goes out, the answer comes back, usage and cost are counted", async () => {
    llm.script = () => ({ text: "It is done.", usage: { in: 200, out: 30 } });
    const agent = await makeAgent();
    const before = (await gantry.call("GET", "/api/v2/me")).body.balance;
    const answer = await run(agent, { input: { thing: "the work" } });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body).toMatchObject({
      id: expect.stringMatching(/^run_/),
      agent_id: agent,
      revision_id: expect.stringMatching(/^rev_/),
      status: "done",
      phase: "ended",
      input: { thing: "the work" },
      output: { text: "It is done." },
      usage: { input_tokens: 200, output_tokens: 30, cached_tokens: 0 },
      cost: 0.0005,
      parent_run_id: null,
    });
    expect(answer.body.duration_ms).toBeGreaterThanOrEqual(0);
    expect(answer.body.error).toBeUndefined();
    expect(llm.requests[0]?.messages.at(-1)?.content).toContain("Do the work.");
    expect(await typesOf(answer)).toEqual(["planning", "completed"]);
    const after = (await gantry.call("GET", "/api/v2/me")).body;
    expect(before - after.balance).toBeCloseTo(0.0005, 6);
    expect(after.reserved).toBe(0);
    const usage = (await gantry.call("GET", "/api/v2/usage?page_size=1")).body.results[0];
    expect(usage).toMatchObject({ model_name: "admin/llm", route: "agent", status: 200, price: 0.0005 });
  });

  test("calls tools, several in one turn side by side, and tells the model their results", async () => {
    llm.script = inTurn(
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
    const events = await eventsOf(answer.body.id);
    expect(events.map((event) => event.type)).toEqual([
      "planning",
      "reasoning",
      "tool_call",
      "tool_call",
      "tool_result",
      "tool_result",
      "completed",
    ]);
    expect(events[1]).toMatchObject({ message: "Let me compute." });
    expect(events[2]).toMatchObject({ tool: "run_javascript", arguments: { code: "6 * 7" } });
    expect(events.at(-1)).toEqual({
      type: "completed",
      timestamp: expect.any(String),
      message: expect.stringMatching(/2 steps/),
    });
    const told = llm.requests[1]?.messages.filter((message) => message.role === "tool").map(({ content }) => content);
    expect(told?.[0]).toContain("42");
    expect(told?.[1]).toContain("ab");
  });

  test("on a fresh machine: the default model plans by rules, and the first event says so", async () => {
    const agent = await makeAgent({
      model: "anthropic/default",
      goal: "Use run_javascript with the code given.",
      tools: ["run_javascript"],
      input_schema: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
      output_schema: { type: "object", properties: { result: {} }, required: ["result"] },
    });
    const answer = await run(agent, { input: { code: "2 + 3" } });
    expect(answer.body, answer.text).toMatchObject({ status: "done" });
    expect(JSON.stringify(answer.body.output)).toContain("5");
    const [first] = await eventsOf(answer.body.id);
    expect(first).toMatchObject({ type: "planning", message: expect.stringContaining("gantry/rules") });
  });
});

describe("events", () => {
  test("are streamed with ids, resumed after the last one, and 204 when there is nothing more", async () => {
    llm.script = inTurn({ calls: [{ name: "run_javascript", args: { code: "1" } }] }, { text: "one" });
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }), { wait: 0 });
    expect(answer.body.status).toBe("pending");
    expect(answer.body.phase).toBe("queued");
    const stream = await gantry.fetch("GET", `/v1/runs/${answer.body.id}/events`);
    expect(stream.headers.get("content-type")).toContain("text/event-stream");
    expect(stream.headers.get("x-accel-buffering")).toBe("no");
    const text = await stream.text();
    const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    expect(ids).toEqual([1, 2, 3, 4]);
    expect([...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name)).toEqual([
      "planning",
      "tool_call",
      "tool_result",
      "completed",
    ]);
    expect(text).toContain('data: {"output":{"text":"one"}}');
    const rest = await gantry.fetch("GET", `/v1/runs/${answer.body.id}/events`, { headers: { "last-event-id": "2" } });
    expect([...(await rest.text()).matchAll(/^id: (\d+)$/gm)].map(([, id]) => id)).toEqual(["3", "4"]);
    const none = await gantry.fetch("GET", `/v1/runs/${answer.body.id}/events?after=4`);
    expect(none.status).toBe(204);
    expect((await gantry.call("GET", `/v1/runs/${answer.body.id}/events?after=x`)).status).toBe(400);
  });
});

describe("cancel", () => {
  test("stops the model at once and ends the run as cancelled, once", async () => {
    llm.script = () => new Promise(() => {});
    const answer = await run(await makeAgent(), { wait: 0 });
    await waitFor("the model to be called", () => llm.open === 1);
    const cancelled = await gantry.call("POST", `/v1/runs/${answer.body.id}/cancel`);
    expect(cancelled.body).toMatchObject({ status: "error", error: { type: "cancelled" }, phase: "ended" });
    await waitFor("the upstream call to be closed", () => llm.open === 0);
    expect((await gantry.call("POST", `/v1/runs/${answer.body.id}/cancel`)).body.completed_at).toBe(
      cancelled.body.completed_at,
    );
    expect((await eventsOf(answer.body.id)).at(-1)).toMatchObject({ type: "error", error: { type: "cancelled" } });
  });
});
