import { describe, expect, test } from "vitest";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, type LlmAnswer, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, run, start, ended } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const asked = () => platform.llm.requests;

let models = 0;
async function makeModel(manifest: object = {}): Promise<string> {
  const name = `changing-${++models}`;
  await platform.makeModel(name, { pricing: { per_request: 0.1 }, ...manifest });
  return `admin/${name}`;
}
async function patch(model: string, manifest: object): Promise<void> {
  const changed = await call("PATCH", `/api/v1/${model}`, { json: manifest });
  expect(changed.status, changed.text).toBe(200);
}
const prices = async (key: string): Promise<number[]> =>
  (await call("GET", "/api/v2/usage", { key })).body.results.map(({ price }: { price: number }) => price).reverse();

/** A run whose model changes during its first answer and continues with `more`. */
async function changedAfterFirst(options: {
  model: string;
  agent?: object;
  body?: object;
  more: LlmAnswer[];
  change(): Promise<unknown>;
}) {
  const user = await platform.newUser();
  const agent = await makeAgent({ model: options.model, tools: ["run_javascript"], ...options.agent }, user.key);
  const held = gate();
  const play = inTurn({ calls: [{ name: "run_javascript", args: { code: "6 * 7" } }] }, ...options.more);
  platform.llm.script = async (request, n) => {
    await held.promise;
    return play(request, n);
  };
  const id = await start(agent, options.body, user);
  await waitFor("the first question", () => asked().some((request) => request.model === options.model.slice(6)));
  await options.change();
  held.open();
  return { seen: await ended(id, user.key), user, agent };
}

describe("every model call of a run has the price of its own acceptance", () => {
  test("also for formatting the answer", async () => {
    const model = await makeModel();
    const output_schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
    const { seen, user } = await changedAfterFirst({
      model,
      agent: { output_schema },
      more: [{ text: "The answer is 42." }, { text: '{"a": 42}' }],
      change: () => patch(model, { pricing: { per_request: 0.7 } }),
    });
    expect(seen).toMatchObject({ status: "done", output: { a: 42 } });
    expect(await prices(user.key)).toEqual([0.1, 0.7, 0.7]);
    expect(seen.cost).toBeCloseTo(1.5, 6);
  });

  test("also for a summary, in the model's current window", async () => {
    const model = await makeModel({ context_window: 100_000 });
    const words = (n: number) => `${"some words to be summed up ".repeat(150)}${n}`;
    const user = await platform.newUser();
    const agent = await makeAgent({ model, tools: ["run_javascript"] }, user.key);
    const held = gate();
    platform.llm.script = async (request, n) => {
      if (n === 4) await held.promise;
      if (request.messages.at(-1)?.content?.startsWith("The conversation is getting too long")) return { text: "sum" };
      if (n > 4) return { text: "done" };
      return { text: words(n), calls: [{ name: "run_javascript", args: { code: `${n}` } }] };
    };
    const id = await start(agent, {}, user);
    await waitFor("the fourth question", () => asked().length === 4);
    await patch(model, { pricing: { per_request: 0.7 }, context_window: 3000 });
    held.open();
    const seen = await ended(id, user.key);
    expect(seen).toMatchObject({ status: "done" });
    expect((await platform.types(id, user.key)).includes("compressed")).toBe(true);
    const paid = await prices(user.key);
    expect(paid.slice(0, 4)).toEqual([0.1, 0.1, 0.1, 0.1]);
    expect(new Set(paid.slice(4))).toEqual(new Set([0.7]));
    expect(paid.length).toBeGreaterThan(5);
  });

  test("and never exceeds max_cost", async () => {
    const model = await makeModel();
    const { seen } = await changedAfterFirst({
      model,
      body: { max_cost: 0.5 },
      more: [{ text: "too dear" }],
      change: () => patch(model, { pricing: { per_request: 0.7 } }),
    });
    expect(seen).toMatchObject({ status: "error", error: { type: "limit_exceeded" }, cost: 0.1 });
    expect(asked()).toHaveLength(1);
  });

  test("also for a retry", async () => {
    const model = await makeModel();
    const user = await platform.newUser();
    const agent = await makeAgent({ model }, user.key);
    let isDear = false;
    platform.llm.script = async () => {
      if (isDear) return { text: "at last" };
      const { length } = asked();
      // Each attempt of the run is several attempts of its driver.
      if (length === 1) await patch(model, { pricing: { per_request: 0.7 } });
      const [ended] = (await call("GET", "/api/v2/usage", user)).body.results;
      isDear = ended !== undefined;
      return isDear ? { text: "at last" } : { status: 503 };
    };
    const { body } = await run(agent, {}, user);
    expect(body, JSON.stringify(body)).toMatchObject({ status: "done", cost: 0.7 });
  });

  test("also for a model called as a tool", async () => {
    const inner = await makeModel({ pricing: { per_request: 0.2 } });
    const user = await platform.newUser();
    const agent = await makeAgent({ model: await makeModel({ pricing: {} }), tools: ["run_model"] }, user.key);
    const ask = (n: number) => ({ name: "run_model", args: { model: inner, input: { prompt: `Inner ${n}` } } });
    platform.llm.script = async (request) => {
      if (request.messages.at(-1)?.content?.startsWith("Inner")) return { text: "inner" };
      const { length } = toolResults(request);
      if (length === 1) await patch(inner, { pricing: { per_request: 0.3 } });
      return length < 2 ? { calls: [ask(length)] } : { text: "done" };
    };
    expect((await run(agent, {}, user)).body.cost).toBeCloseTo(0.5, 6);
  });
});

describe("a run's model that changed", () => {
  test("is called in its new form", async () => {
    const model = await makeModel();
    const backend = { type: "openai-chat", url: platform.llm.url, model: "another" };
    const { seen } = await changedAfterFirst({
      model,
      more: [{ text: "done" }],
      change: () => patch(model, { backend }),
    });
    expect(seen.status).toBe("done");
    expect(asked().map((request) => request.model)).toEqual([model.slice("admin/".length), "another"]);
  });

  test("to private ends the run like a deleted one, and no other model replaces it", async () => {
    const hidden = await makeModel();
    const makePrivate = () => patch(hidden, { visibility: "private" });
    const first = await changedAfterFirst({ model: hidden, more: [{ text: "no" }], change: makePrivate });
    const gone = await makeModel();
    const second = await changedAfterFirst({
      model: gone,
      more: [{ text: "no" }],
      change: () => call("DELETE", `/api/v1/${gone}`),
    });
    for (const [model, { seen, user, agent }] of [
      [hidden, first],
      [gone, second],
    ] as const) {
      const message = `The agent's model ${model} can no longer be called`;
      expect(seen).toMatchObject({ status: "error", error: { type: "internal", message }, cost: 0.1 });
      const refused = await run(agent, {}, user);
      expect([refused.status, refused.body.error.type], refused.text).toEqual([409, "conflict"]);
      expect(refused.body.error.message).toContain(model);
    }
    // Each was called before the change, and not after.
    expect(asked()).toHaveLength(2);
    const inactive = await makeModel();
    const agent = await makeAgent({ model: inactive }, first.user.key);
    await patch(inactive, { capacity: 0 });
    expect((await run(agent, {}, first.user)).status).toBe(403);
  });

  test("to private is still called for its creator's agents, for any caller", async () => {
    const model = await makeModel();
    const user = await platform.newUser();
    const own = await makeAgent({ model, visibility: "public" });
    await patch(model, { visibility: "private" });
    expect((await run(own, {}, user)).body.status).toBe("done");
  });
});
