import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { type LlmRequest, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, start, read, ended, events, types } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const asked = () => platform.llm.requests;

const js = (code: string) => ({ name: "run_javascript", args: { code } });
const asking = { tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] };
/** Calls the tool once, then answers with its result. */
const callOnce =
  (...calls: { name: string; args: object }[]) =>
  (request: LlmRequest) => {
    const told = toolResults(request);
    return told.length === 0 ? { calls } : { text: `heard: ${told.join(" | ")}` };
  };
const questions = async (runId: string, options: { key?: string } = {}) =>
  (await call("GET", `/v1/runs/${runId}/confirmations`, options)).body.confirmations;
const answer = (runId: string, id: string, json: unknown, options: { key?: string } = {}) =>
  call("POST", `/v1/runs/${runId}/confirmations/${id}`, { json, ...options });
async function untilAsked(runId: string, many = 1) {
  await waitFor("the question", async () => (await questions(runId)).length === many);
  await waitFor("the wait", async () => (await read(runId)).phase === "awaiting_confirmation");
  return questions(runId);
}

describe("a tool that needs a confirmation", () => {
  let beside: GantryNode;
  beforeAll(async () => {
    beside = await startGantry({ beside: platform.gantry });
  });
  afterAll(() => beside.close());

  test("is called only after approval, on any node", async () => {
    platform.llm.script = callOnce(js("6 * 7"));
    const id = await start(await makeAgent(asking));
    const [question] = await untilAsked(id);
    expect(question).toEqual({
      id: expect.stringMatching(/^conf_/),
      run_id: id,
      agent: { id: expect.stringMatching(/^agt_/), name: expect.stringMatching(/^Agent /) },
      tool: "run_javascript",
      arguments: { code: "6 * 7" },
      status: "pending",
      created_at: expect.any(String),
      expires_at: expect.any(String),
    });
    expect(Date.parse(question.expires_at) - Date.parse(question.created_at)).toBeCloseTo(86_400_000, -4);
    expect(await read(id)).toMatchObject({ status: "running", phase: "awaiting_confirmation" });
    expect(asked()).toHaveLength(1);
    const [, told] = await events(id);
    expect(told).toMatchObject({
      type: "confirmation_required",
      confirmation_id: question.id,
      tool: "run_javascript",
      arguments: { code: "6 * 7" },
      expires_at: question.expires_at,
    });
    const approved = await beside.call("POST", `/v1/runs/${id}/confirmations/${question.id}`, {
      json: { approve: true },
    });
    expect(approved.status, approved.text).toBe(200);
    expect(approved.body).toMatchObject({ id: question.id, status: "approved", resolved_at: expect.any(String) });
    expect(await ended(id)).toMatchObject({ status: "done", output: { text: "heard: 42" } });
    expect(await types(id)).toEqual([
      "planning",
      "confirmation_required",
      "confirmation_resolved",
      "tool_call",
      "tool_result",
      "completed",
    ]);
    const again = await answer(id, question.id, { approve: true });
    expect(again.status).toBe(409);
    expect(again.body.error.type).toBe("conflict");
  });

  test("is answered only by the caller, not by the creator or a stranger, with a valid body", async () => {
    const creator = await platform.newUser();
    const caller = await platform.newUser();
    const agent = await makeAgent({ ...asking, visibility: "public" }, creator.key);
    platform.llm.script = callOnce(js("42"));
    const id = await start(agent, {}, caller);
    await waitFor("the question", async () => (await questions(id, caller)).length === 1);
    const [question] = await questions(id, caller);
    for (const who of [creator, await platform.newUser()]) {
      expect((await call("GET", `/v1/runs/${id}/confirmations`, who)).status).toBe(404);
      expect((await answer(id, question.id, { approve: true }, who)).status).toBe(404);
    }
    for (const body of [{}, { approve: "yes" }, { approve: true, more: 1 }, { approve: true, reason: 7 }, []]) {
      const refused = await answer(id, question.id, body, caller);
      expect(refused.status, JSON.stringify(body)).toBe(400);
      expect(refused.body.error.type).toBe("invalid_input");
    }
    expect((await answer(id, "conf_unknown", { approve: true }, caller)).status).toBe(404);
    const nul = await answer(id, question.id, { approve: false, reason: "a\u0000b" }, caller);
    expect(nul.status).toBe(400);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => answer(id, question.id, { approve: n % 2 === 0 }, caller)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(5);
    expect((await ended(id, caller.key)).status).toBe("done");
  });

  test("of an ended run cannot be answered", async () => {
    const agent = await makeAgent(asking);
    platform.llm.script = callOnce(js("42"));
    const id = await start(agent);
    await waitFor("the question", async () => (await questions(id)).length === 1);
    const [question] = await questions(id);
    expect((await call("POST", `/v1/runs/${id}/cancel`)).status).toBe(200);
    await ended(id);
    const late = await answer(id, question.id, { approve: true });
    expect(late.status).toBe(409);
    expect(late.body.error).toMatchObject({ type: "conflict", message: "The run has ended" });
  });
});
