import { setTimeout as sleep } from "node:timers/promises";
import { runEventList } from "@gantry/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { type Answer, type GantryNode, startGantry } from "../../support/gantry.ts";
import { agentModel, createModels } from "../../support/models.ts";
import { inTurn, type LlmAnswer, type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let llm: ScriptedLlm;

beforeAll(async () => {
  // One slot: a waiting run must not occupy it.
  gantry = await startGantry({ env: { GANTRY_RUN_PARALLEL: "1" } });
  llm = await startScriptedLlm();
  await createModels(gantry, { llm: agentModel(llm.url, { pricing: { per_million_input_tokens: 1 } }) });
});
afterAll(async () => {
  expect(await verifyLedger(gantry.database)).toEqual([]);
  await gantry.close();
  await llm.close();
});
beforeEach(() => {
  llm.script = () => ({ text: "done" });
  llm.requests.length = 0;
});

const asking = [{ type: "tool", id: "run_javascript", confirm: "always" }];
const compute = (code: string): LlmAnswer => ({ calls: [{ name: "run_javascript", args: { code } }] });

let agents = 0;
async function makeAgent(fields: object = {}, key?: string): Promise<string> {
  const json = { name: `Asking ${++agents}`, goal: "Do it.", tools: asking, model: "admin/llm", ...fields };
  const made = await gantry.call("POST", "/v1/agents", { json, ...(key && { key }) });
  expect(made.status, made.text).toBe(201);
  const published = await gantry.call("POST", `/v1/agents/${made.body.id}/publish`, { json: {}, ...(key && { key }) });
  expect(published.status, published.text).toBe(200);
  return made.body.id;
}

const start = (agentId: string, body: object = {}, key?: string) =>
  gantry.call("POST", `/v1/agents/${agentId}/runs`, { json: { input: {}, ...body }, ...(key && { key }) });
const read = async (id: string) => (await gantry.call("GET", `/v1/runs/${id}`)).body;
const questions = async (id: string) => (await gantry.call("GET", `/v1/runs/${id}/confirmations`)).body.confirmations;
const answer = (id: string, cid: string, json: unknown, key?: string) =>
  gantry.call("POST", `/v1/runs/${id}/confirmations/${cid}`, { json, ...(key && { key }) });
const eventsOf = async (id: string): Promise<Record<string, unknown>[]> => {
  const { body } = await gantry.call("GET", `/v1/runs/${id}/events/list`);
  expect(runEventList.parse(body)).toEqual(body);
  return body.events;
};
const toldTools = () =>
  llm.requests
    .at(-1)
    ?.messages.filter((message) => message.role === "tool")
    .map(({ content }) => content);

async function untilAsking(run: Answer, count = 1): Promise<Record<string, string>[]> {
  expect(run.status, run.text).toBe(201);
  await waitFor("the question", async () => (await questions(run.body.id)).length === count);
  await waitFor("the run to wait", async () => (await read(run.body.id)).phase === "awaiting_confirmation");
  return questions(run.body.id);
}

const untilOver = (id: string) =>
  waitFor("the run to end", async () => ["done", "error"].includes((await read(id)).status));

describe("a call that needs a confirmation", () => {
  test("waits with its confirmation in the list and in events, continues within a second of the approval, is made once", async () => {
    llm.script = inTurn(compute("6 * 7"), { text: "It is 42." });
    const run = await start(await makeAgent());
    const [question] = await untilAsking(run);
    expect(question).toMatchObject({
      id: expect.stringMatching(/^conf_/),
      tool: "run_javascript",
      arguments: { code: "6 * 7" },
      status: "pending",
    });
    const day = Date.parse(question?.expires_at ?? "") - Date.now();
    expect(day).toBeGreaterThan(23.9 * 3_600_000);
    expect(day).toBeLessThan(24.1 * 3_600_000);
    expect(await read(run.body.id)).toMatchObject({ status: "running", phase: "awaiting_confirmation" });
    expect((await eventsOf(run.body.id)).at(-1)).toMatchObject({
      type: "confirmation_required",
      confirmation_id: question?.id,
      tool: "run_javascript",
      arguments: { code: "6 * 7" },
      expires_at: expect.any(String),
    });
    const answered = await answer(run.body.id, question?.id ?? "", { approve: true });
    expect(answered.status, answered.text).toBe(200);
    expect(answered.body).toMatchObject({ id: question?.id, status: "approved" });
    await waitFor("the next model call", () => llm.requests.length === 2);
    await untilOver(run.body.id);
    expect(await read(run.body.id)).toMatchObject({ status: "done", output: { text: "It is 42." } });
    expect(toldTools()?.[0]).toContain("42");
    const types = (await eventsOf(run.body.id)).map((event) => event.type);
    expect(types).toEqual([
      "planning",
      "confirmation_required",
      "confirmation_resolved",
      "tool_call",
      "tool_result",
      "completed",
    ]);
  });

  test("is not made when denied; the model gets the reason", async () => {
    llm.script = inTurn(compute("1"), { text: "Then not." });
    const run = await start(await makeAgent());
    const [question] = await untilAsking(run);
    const denied = await answer(run.body.id, question?.id ?? "", { approve: false, reason: "Not on a Sunday" });
    expect(denied.body).toMatchObject({ status: "denied", reason: "Not on a Sunday" });
    await untilOver(run.body.id);
    expect(await read(run.body.id)).toMatchObject({ status: "done" });
    expect(toldTools()?.[0]).toMatch(/denied.*Not on a Sunday/);
    expect((await eventsOf(run.body.id)).find((event) => event.type === "confirmation_resolved")).toMatchObject({
      confirmation_id: question?.id,
      approved: false,
      status: "denied",
      reason: "Not on a Sunday",
    });
  });

  test("is denied without an answer in time", async () => {
    llm.script = inTurn(compute("1"), { text: "No answer came." });
    const run = await start(await makeAgent());
    const [question] = await untilAsking(run);
    await gantry.database.sql`
      update run_confirmations set expires_at = now() - interval '1 second' where id = ${question?.id ?? ""}`;
    const late = await answer(run.body.id, question?.id ?? "", { approve: true });
    expect(late.status).toBe(409);
    await untilOver(run.body.id);
    expect(await read(run.body.id)).toMatchObject({ status: "done", output: { text: "No answer came." } });
    expect(toldTools()?.[0]).toMatch(/not answered in time/);
    expect(await questions(run.body.id)).toMatchObject([{ status: "expired" }]);
    expect((await answer(run.body.id, question?.id ?? "", { approve: true })).status).toBe(409);
  });

  test("is answered once: a second answer is a conflict, also when concurrent", async () => {
    llm.script = inTurn(compute("1"), { text: "ok" });
    const run = await start(await makeAgent());
    const [question] = await untilAsking(run);
    const both = await Promise.all([
      answer(run.body.id, question?.id ?? "", { approve: true }),
      answer(run.body.id, question?.id ?? "", { approve: false }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(both.find(({ status }) => status === 409)?.body.error).toMatchObject({ type: "conflict", code: "conflict" });
    await untilOver(run.body.id);
    const resolved = (await eventsOf(run.body.id)).filter((event) => event.type === "confirmation_resolved");
    expect(resolved.length).toBe(1);
    expect((await answer(run.body.id, question?.id ?? "", { approve: true })).status).toBe(409);
  });

  test("is visible and answerable only for the caller; invalid bodies are reported by field", async () => {
    llm.script = inTurn(compute("1"), { text: "ok" });
    const stranger = await gantry.newUser("stranger");
    const run = await start(await makeAgent());
    const [question] = await untilAsking(run);
    const id = question?.id ?? "";
    expect((await answer(run.body.id, id, { approve: true }, stranger)).status).toBe(404);
    expect((await gantry.call("GET", `/v1/runs/${run.body.id}/confirmations`, { key: stranger })).status).toBe(404);
    const other = await start(await makeAgent({ tools: [] }));
    expect((await answer(other.body.id, id, { approve: true })).status).toBe(404);
    expect((await answer(run.body.id, "conf_nothing", { approve: true })).status).toBe(404);
    for (const wrong of [{}, { approve: "yes" }, { approve: true, reason: 5 }, { approve: true, more: 1 }, []]) {
      const refused = await answer(run.body.id, id, wrong);
      expect(refused.status, JSON.stringify(wrong)).toBe(400);
      expect(refused.body.error).toMatchObject({ type: "invalid_input" });
    }
    expect(await questions(run.body.id)).toMatchObject([{ status: "pending" }]);
    expect((await answer(run.body.id, id, { approve: true })).status).toBe(200);
    await untilOver(run.body.id);
  });

  test("is reported at once to the client that waits for the run", async () => {
    llm.script = inTurn(compute("6 * 7"), { text: "ok" });
    const began = performance.now();
    const json = { input: {}, wait: 30 };
    const once = async () => {
      const headers = { "idempotency-key": "asks-soon" };
      return (await gantry.call("POST", `/v1/agents/${agent}/runs`, { json, headers })).body;
    };
    const agent = await makeAgent();
    const run = await once();
    expect(run).toMatchObject({ status: "running", phase: "awaiting_confirmation" });
    expect(await once()).toMatchObject({ id: run.id, phase: "awaiting_confirmation" });
    expect(performance.now() - began).toBeLessThan(20_000);
    const [question] = await questions(run.id);
    // A plain read waits for the end.
    const reading = gantry.call("GET", `/v1/runs/${run.id}?wait=20`);
    expect((await answer(run.id, question.id, { approve: true })).status).toBe(200);
    expect((await reading).body).toMatchObject({ status: "done" });
  });

  test("needs none if the caller approved the tool in advance", async () => {
    llm.script = inTurn(compute("6 * 7"), { text: "ok" });
    const run = await start(await makeAgent(), { approve: ["run_javascript"], wait: 20 });
    expect(run.body, run.text).toMatchObject({ status: "done" });
    expect(await questions(run.body.id)).toEqual([]);
  });

  test("is approved only for the arguments shown", async () => {
    llm.script = inTurn(compute("6 * 7"), { text: "ok" });
    const run = await start(await makeAgent());
    const [question] = await untilAsking(run);
    await gantry.database.sql`update run_calls set arguments = '{"code": "6 * 8"}' where run_id = ${run.body.id}`;
    await answer(run.body.id, question?.id ?? "", { approve: true });
    await untilOver(run.body.id);
    expect(toldTools()?.[0]).toMatch(/not those that were approved/);
  });

  test("deletes a file only after the approval, by default", async () => {
    const drive = (await gantry.call("POST", "/v1/drives", { json: { name: "papers" } })).body.id;
    const form = new FormData();
    form.append("path", "/a.txt");
    form.append("file", new File(["a"], "a.txt"));
    expect((await gantry.call("POST", `/v1/drives/${drive}/files`, { form })).status).toBe(201);
    const isThere = async () => (await gantry.call("GET", `/v1/drives/${drive}/files/a.txt`)).status === 200;
    llm.script = inTurn({ calls: [{ name: "drive_delete", args: { path: "/a.txt" } }] }, { text: "gone" });
    const run = await start(await makeAgent({ tools: ["drive_delete"], drives: [drive] }));
    const [question] = await untilAsking(run);
    expect(await isThere()).toBe(true);
    await answer(run.body.id, question?.id ?? "", { approve: true });
    await untilOver(run.body.id);
    expect(await isThere()).toBe(false);
  });
});

describe("waiting", () => {
  test("for several answers of one step: the run continues with the last; each counts for its own call", async () => {
    llm.script = inTurn(
      {
        calls: [
          { name: "run_javascript", args: { code: "'first'" } },
          { name: "run_javascript", args: { code: "'second'" } },
          { name: "run_javascript", args: { code: "'third'" } },
        ],
      },
      { text: "ok" },
    );
    const run = await start(await makeAgent());
    const all = await untilAsking(run, 3);
    const idOf = (code: string) =>
      all.find((one) => (one.arguments as unknown as { code: string }).code === code)?.id ?? "";
    await answer(run.body.id, idOf("'second'"), { approve: false });
    await answer(run.body.id, idOf("'third'"), { approve: true });
    expect(await read(run.body.id)).toMatchObject({ status: "running", phase: "awaiting_confirmation" });
    expect(llm.requests.length).toBe(1);
    await answer(run.body.id, idOf("'first'"), { approve: true });
    await untilOver(run.body.id);
    const told = toldTools();
    expect(told?.[0]).toContain("first");
    expect(told?.[1]).toContain("denied");
    expect(told?.[2]).toContain("third");
  });

  test("uses neither a slot nor the run's time", async () => {
    llm.script = (request) =>
      request.messages.some((message) => message.role === "tool") || !request.tools ? { text: "ok" } : compute("1");
    const run = await start(await makeAgent(), { timeout_seconds: 5 });
    const [question] = await untilAsking(run);
    const other = await start(await makeAgent({ tools: [] }), { wait: 20 });
    expect(other.body).toMatchObject({ status: "done" });
    await sleep(5_500);
    await answer(run.body.id, question?.id ?? "", { approve: true });
    await untilOver(run.body.id);
    expect(await read(run.body.id)).toMatchObject({ status: "done" });
  });

  test("ends at once when the run is cancelled, together with the confirmation", async () => {
    llm.script = () => compute("1");
    const run = await start(await makeAgent());
    const [question] = await untilAsking(run);
    const cancelled = await gantry.call("POST", `/v1/runs/${run.body.id}/cancel`);
    expect(cancelled.body).toMatchObject({ status: "error", error: { type: "cancelled" }, phase: "ended" });
    expect(await questions(run.body.id)).toMatchObject([{ status: "expired" }]);
    expect((await answer(run.body.id, question?.id ?? "", { approve: true })).status).toBe(409);
    expect((await eventsOf(run.body.id)).at(-1)).toMatchObject({ type: "error" });
  });

  test("survives a restart of the server, also with an answer before the restart", async () => {
    llm.script = inTurn(compute("6 * 7"), { text: "later" });
    const first = await startGantry({ beside: gantry, env: { GANTRY_ROLE: "api" } });
    const run = await first.call("POST", `/v1/agents/${await makeAgent()}/runs`, { json: { input: {} } });
    const [question] = await untilAsking(run);
    await first.close();
    const [row] = await gantry.database.sql`select holder, parked from runs where id = ${run.body.id}`;
    expect(row).toEqual({ holder: null, parked: true });
    await answer(run.body.id, question?.id ?? "", { approve: true });
    await untilOver(run.body.id);
    expect(await read(run.body.id)).toMatchObject({ status: "done", output: { text: "later" } });
  });
});

describe("inside a sub-agent", () => {
  async function family(): Promise<{ run: Answer; question: Record<string, string> }> {
    const child = await makeAgent({ goal: "CHILD" });
    const middle = await makeAgent({ goal: "MIDDLE", tools: [{ type: "agent", agent_id: child, name: "child" }] });
    const root = await makeAgent({ goal: "ROOT", tools: [{ type: "agent", agent_id: middle, name: "middle" }] });
    llm.script = ({ messages }) => {
      if (messages.some((message) => message.role === "tool")) return { text: "ok" };
      const goal = messages[1]?.content ?? "";
      if (goal.startsWith("ROOT")) return { calls: [{ name: "middle", args: {} }] };
      if (goal.startsWith("MIDDLE")) return { calls: [{ name: "child", args: {} }] };
      return compute("6 * 7");
    };
    const run = await start(root);
    const [question] = await untilAsking(run);
    return { run, question: question ?? {} };
  }
  const below = async (id: string) => {
    const rows = await gantry.database.sql<{ id: string; phase: string; status: string }[]>`
      select id, phase, status from runs where ${id} = any (ancestors) order by cardinality(ancestors)`;
    return [...rows];
  };

  test("the confirmation is answered at the root; all ancestors show that they wait, and all continue", async () => {
    const { run, question } = await family();
    const [middle, child] = await below(run.body.id);
    await waitFor("all to wait", async () =>
      (await below(run.body.id)).every(({ phase }) => phase === "awaiting_confirmation"),
    );
    expect(question.run_id).toBe(child?.id);
    for (const one of [run.body.id, middle?.id, child?.id]) {
      expect((await questions(one)).map((asked: { id: string }) => asked.id)).toEqual([question.id]);
      expect((await eventsOf(one)).filter((event) => event.type === "confirmation_required").length).toBe(1);
    }
    expect((await answer(run.body.id, question.id ?? "", { approve: true })).status).toBe(200);
    await untilOver(run.body.id);
    expect(await read(run.body.id)).toMatchObject({ status: "done" });
    expect((await below(run.body.id)).map(({ status }) => status)).toEqual(["done", "done"]);
    for (const one of [run.body.id, middle?.id, child?.id]) {
      const types = (await eventsOf(one)).map((event) => event.type);
      expect(types.filter((type) => type === "confirmation_resolved").length).toBe(1);
    }
  });

  test("cancelling the root ends all of them and closes the confirmation", async () => {
    const { run, question } = await family();
    const cancelled = await gantry.call("POST", `/v1/runs/${run.body.id}/cancel`);
    expect(cancelled.body).toMatchObject({ status: "error", error: { type: "cancelled" } });
    await waitFor("all to end", async () => (await below(run.body.id)).every(({ status }) => status === "error"));
    expect((await answer(run.body.id, question.id ?? "", { approve: true })).status).toBe(409);
    expect((await eventsOf(run.body.id)).at(-1)).toMatchObject({ type: "error" });
  });

  test("cancelling the asking run lets its ancestors continue", async () => {
    const { run } = await family();
    const [, child] = await below(run.body.id);
    expect((await gantry.call("POST", `/v1/runs/${child?.id}/cancel`)).body).toMatchObject({ status: "error" });
    await untilOver(run.body.id);
    expect(await read(run.body.id)).toMatchObject({ status: "done" });
    const resolved = (await eventsOf(run.body.id)).filter((event) => event.type === "confirmation_resolved");
    expect(resolved).toMatchObject([{ status: "expired", approved: false }]);
  });
});

test("waiting parents use no slot: a chain of four agents runs on one slot", async () => {
  let last = await makeAgent({ goal: "LEVEL 4", tools: [] });
  for (let level = 3; level >= 1; level--) {
    last = await makeAgent({ goal: `LEVEL ${level}`, tools: [{ type: "agent", agent_id: last, name: "next" }] });
  }
  llm.script = ({ messages, tools }) =>
    !tools || messages.some((message) => message.role === "tool")
      ? { text: "ok" }
      : { calls: [{ name: "next", args: {} }] };
  const run = await start(last, { wait: 20 });
  expect(run.body, run.text).toMatchObject({ status: "done" });
  const [row] = await gantry.database.sql<{ n: number }[]>`
    select count(*)::int as n from runs where ${run.body.id} = any (ancestors) and status = 'done'`;
  expect(row?.n).toBe(3);
  expect(run.body.usage.input_tokens).toBe(700);
});
