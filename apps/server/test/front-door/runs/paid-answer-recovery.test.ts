import { describe, expect, test } from "vitest";
import type { Transaction } from "../../../src/engines/database/database.ts";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { type LlmAnswer, type LlmRequest, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform({ pricing: {} });
const { newUser, makeAgent, start, ended, events } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const keyIsGone = { type: "internal", message: "The API key that started the run is no longer valid" };

interface Situation {
  /** The model whose paid answer is lost. */
  model: string;
  revoke(): Promise<void>;
}

let models = 0;
/**
 * A run whose worker is lost after a model call was charged and before its answer was stored. The next worker
 * finds the state that `meanwhile` left.
 */
async function afterLosing(options: {
  by: "the run's model" | "run_model";
  answer?: LlmAnswer;
  agent?: object;
  body?: object;
  meanwhile?(situation: Situation): Promise<unknown>;
  alsoWrite?(tx: Transaction, runId: string): Promise<unknown>;
}) {
  const name = `paid-${++models}`;
  const model = `admin/${name}`;
  await platform.makeModel(name, { pricing: { per_request: 0.1 } });
  const { name: userName, key } = await platform.newUser();
  const otherKey: string = (await call("POST", `/api/v2/admin/users/${userName}/keys`, { json: {} })).body.key;
  const { results } = (await call("GET", "/api/v2/keys", { key: otherKey })).body;
  const keyId: string = results.find((one: { public: string }) => key.includes(one.public)).id;
  const isTool = options.by === "run_model";
  const own = { model: isTool ? "admin/llm" : model, tools: ["run_model", "run_javascript"], ...options.agent };
  const agent = await makeAgent(own, otherKey);
  const held = gate();
  platform.llm.script = async (request) => {
    if (request.model === name) {
      await held.promise;
      return options.answer ?? { text: "The answer." };
    }
    const heard = toolResults(request);
    if (heard.length > 0) return { text: heard.join(" | ") };
    return { calls: [{ name: "run_model", args: { model, input: { prompt: "x" } } }] };
  };
  const asked = () => platform.llm.requests.filter((request) => request.model === name).length;
  const runId = await start(agent, options.body, { key });
  await waitFor("the model to be asked", () => asked() === 1);
  const { database } = platform.gantry;
  await database.transaction(async (tx) => {
    await tx`select 1 from runs where id = ${runId} for update`;
    held.open();
    const paid = () => database.sql`select 1 from ended_predictions where model_name = ${model} and status = 200`;
    await waitFor("the answer to be paid", async () => (await paid()).length === 1);
    const revoke = async () => {
      expect((await call("DELETE", `/api/v2/keys/${keyId}`, { key: otherKey })).status).toBe(204);
    };
    await options.meanwhile?.({ model, revoke });
    await options.alsoWrite?.(tx, runId);
    // What other nodes do when its heartbeat stops.
    await tx`select release_runs(holder) from runs where id = ${runId}`;
  });
  const seen = await ended(runId, otherKey);
  expect(asked()).toBe(1);
  const { body } = await call("GET", "/api/v2/me", { key: otherKey });
  expect({ balance: body.balance, reserved: body.reserved }).toEqual({ balance: 9.9, reserved: 0 });
  return { seen, events: await platform.events(runId, otherKey) };
}

describe("a paid model answer that a crash kept from the run", () => {
  test("is its output although the key was revoked, because it needs no further call", async () => {
    const { seen } = await afterLosing({ by: "the run's model", meanwhile: ({ revoke }) => revoke() });
    expect(seen).toMatchObject({ status: "done", output: { text: "The answer." }, cost: 0.1 });
  });

  test("counts in its cost when a revoked key ends the run", async () => {
    const { seen, events } = await afterLosing({
      by: "the run's model",
      answer: { calls: [{ name: "run_javascript", args: { code: "6 * 7" } }] },
      meanwhile: ({ revoke }) => revoke(),
    });
    expect(seen).toMatchObject({ status: "error", error: keyIsGone, cost: 0.1 });
    expect(events.filter(({ type }) => type === "tool_result")).toEqual([]);
  });

  test.each([
    ["deleted", (model: string) => call("DELETE", `/api/v1/${model}`)],
    ["made private", (model: string) => call("PATCH", `/api/v1/${model}`, { json: { visibility: "private" } })],
  ])("is its output although the model was %s", async (_, change) => {
    const { seen } = await afterLosing({ by: "the run's model", meanwhile: ({ model }) => change(model) });
    expect(seen).toMatchObject({ status: "done", output: { text: "The answer." }, cost: 0.1 });
  });

  test("counts in its cost when a deleted model ends the run", async () => {
    const { seen } = await afterLosing({
      by: "the run's model",
      agent: { instructions: { formatting: "As a poem." } },
      meanwhile: ({ model }) => call("DELETE", `/api/v1/${model}`),
    });
    expect(seen).toMatchObject({ status: "error", error: { type: "internal" }, cost: 0.1 });
    expect(seen.error.message).toContain("can no longer be called");
  });

  test("is its output although another call would exceed the run's max_cost", async () => {
    const { seen } = await afterLosing({
      by: "the run's model",
      body: { max_cost: 0.5 },
      meanwhile: ({ model }) => call("PATCH", `/api/v1/${model}`, { json: { pricing: { per_request: 0.7 } } }),
    });
    expect(seen).toMatchObject({ status: "done", output: { text: "The answer." }, cost: 0.1 });
  });

  test("counts in the cost of a run whose workers died too often", async () => {
    const { seen } = await afterLosing({
      by: "the run's model",
      alsoWrite: (tx, runId) => tx`update runs set deaths = 3 where id = ${runId}`,
    });
    expect(seen).toMatchObject({ status: "error", error: { type: "internal" }, cost: 0.1 });
    expect(seen.error.message).toContain("Three nodes died");
  });

  test("counts in the cost of a run that was cancelled meanwhile", async () => {
    const { seen } = await afterLosing({
      by: "the run's model",
      // The state of a cancel whose worker is lost.
      alsoWrite: (tx, runId) => tx`update runs set cancel_requested = true where id = ${runId}`,
    });
    expect(seen).toMatchObject({ status: "error", error: { type: "cancelled" }, cost: 0.1 });
  });
});

describe("a paid run_model answer that a crash kept from the run", () => {
  test("counts in its cost and is reported, although the key was revoked", async () => {
    const { seen, events } = await afterLosing({ by: "run_model", meanwhile: ({ revoke }) => revoke() });
    expect(seen).toMatchObject({ status: "error", error: keyIsGone, cost: 0.1 });
    expect(events.find(({ type }) => type === "tool_result")?.result).toContain("The answer.");
  });

  test.each([
    ["deleted", (model: string) => call("DELETE", `/api/v1/${model}`)],
    ["dearer", (model: string) => call("PATCH", `/api/v1/${model}`, { json: { pricing: { per_request: 0.7 } } })],
  ])("reaches the run although the model is %s", async (_, change) => {
    const { seen } = await afterLosing({
      by: "run_model",
      body: { max_cost: 0.5 },
      meanwhile: ({ model }) => change(model),
    });
    expect(seen).toMatchObject({ status: "done", cost: 0.1 });
    expect(JSON.stringify(seen.output)).toContain("The answer.");
  });
});

const narrow = { context_window: 3000 };
const wide = { context_window: 100_000 };
const isForSummary = ({ messages }: LlmRequest) =>
  messages.at(-1)?.content?.startsWith("The conversation is getting too long") ?? false;
const words = (n: number) => `${"some words to be summed up ".repeat(150)}${n}`;

/**
 * A run with long answers that is done after four steps. Its worker is lost when the call that `isLost`
 * names was charged and its answer not yet stored; the model then has another window.
 */
async function losing(options: { before: object; after: object; isLost(request: LlmRequest, n: number): boolean }) {
  const name = `window-${++models}`;
  await platform.makeModel(name, { pricing: { per_request: 0.1 }, ...options.before });
  const user = await newUser();
  const agent = await makeAgent({ model: `admin/${name}`, tools: ["run_javascript"] }, user.key);
  const [reached, held] = [gate(), gate()];
  let work = 0;
  let all = 0;
  platform.llm.script = async (request, n) => {
    all = n;
    const isSummary = isForSummary(request);
    if (!isSummary) work++;
    const answered = work;
    if (options.isLost(request, n)) {
      reached.open();
      await held.promise;
    }
    if (isSummary) return { text: "The summary." };
    if (answered > 4) return { text: "The answer." };
    return { text: words(answered), calls: [{ name: "run_javascript", args: { code: `${answered}` } }] };
  };
  const id = await start(agent, {}, user);
  await reached.promise;
  const { database } = platform.gantry;
  await database.transaction(async (tx) => {
    const paid = async () =>
      (await database.sql`select 1 from ended_predictions where model_name = ${`admin/${name}`} and status = 200`)
        .length;
    const before = await paid();
    await tx`select 1 from runs where id = ${id} for update`;
    held.open();
    await waitFor("the answer to be paid", async () => (await paid()) === before + 1);
    const patched = await platform.gantry.call("PATCH", `/api/v1/admin/${name}`, { json: options.after });
    expect(patched.status, patched.text).toBe(200);
    // What other nodes do when its heartbeat stops.
    await tx`select release_runs(holder) from runs where id = ${id}`;
  });
  const seen = await ended(id, user.key);
  expect(seen.cost).toBeCloseTo(all * 0.1, 6);
  return { seen, told: await events(id, user.key) };
}

test("a paid summary that a crash kept from the run is used, even in a window that needs none", async () => {
  const { seen, told } = await losing({ before: narrow, after: wide, isLost: isForSummary });
  expect(seen).toMatchObject({ status: "done", output: { text: "The answer." } });
  const compressed = told.filter(({ type }) => type === "compressed");
  expect(compressed).toMatchObject([{ summary: "The summary.", before_tokens: expect.any(Number) }]);
});

test("a paid answer that a crash kept from the run is used, even in a window that needs a summary", async () => {
  const { seen, told } = await losing({ before: wide, after: narrow, isLost: (_, n) => n === 5 });
  expect(seen).toMatchObject({ status: "done", output: { text: "The answer." } });
  expect(told.filter(({ type }) => type === "compressed")).toEqual([]);
});
