import { beforeAll, describe, expect, test } from "vitest";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { type LlmRequest, toolResults } from "../../support/scripted-llm.ts";

const platform = useRunsPlatform();
const { makeAgent, run } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const walletOf = async ({ key }: { key: string }) => {
  const { balance, reserved } = (await call("GET", "/api/v2/me", { key })).body;
  return { balance, reserved };
};

beforeAll(async () => {
  await platform.makeModel("dear", { pricing: { per_request: 1_000_000 } });
  await platform.makeModel("dollar", { pricing: { per_request: 1 } });
  await platform.makeModel("gratis", { pricing: {} });
});

const free = { visibility: "public", goal: "Help." };
const notCovered = "The balance or the budget of the API key does not cover another model call";
const refusal = { status: "error", error: { type: "insufficient_funds", message: notCovered }, cost: 0 };
const tools = ["run_model"];
const ask = (model: string) => ({ name: "run_model", args: { model, input: { prompt: "x" } } });

/** The agent's model calls another one this many times at once; then it is done. */
function callModels(...models: string[]): void {
  platform.llm.script = (request: LlmRequest) => {
    if (request.model !== "gratis" || toolResults(request).length > 0) return { text: "ok" };
    return { calls: models.map(ask) };
  };
}
const toldLast = () => toolResults(platform.llm.requests.at(-1));

describe("a model call of another user's agent", () => {
  test("is not made if the balance does not cover it, and the run ends", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 5 });
    const agent = await makeAgent({ ...free, model: "admin/dear" }, creator.key);
    expect((await run(agent, {}, caller)).body).toMatchObject(refusal);
    expect(await walletOf(caller)).toEqual({ balance: 5, reserved: 0 });
    expect(platform.llm.requests).toEqual([]);
  });

  test("is not made if the key's monthly limit does not cover it", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 5, key: { monthly_limit: 0.5 } });
    const agent = await makeAgent({ ...free, model: "admin/dollar" }, creator.key);
    expect((await run(agent, {}, caller)).body).toMatchObject(refusal);
    expect(await walletOf(caller)).toEqual({ balance: 5, reserved: 0 });
  });

  test("may use the whole balance", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 2, key: { monthly_limit: 1 } });
    const agent = await makeAgent({ ...free, model: "admin/dollar" }, creator.key);
    expect((await run(agent, {}, caller)).body).toMatchObject({ status: "done", cost: 1 });
    expect((await run(agent, {}, caller)).status).toBe(403);
    expect(await walletOf(caller)).toEqual({ balance: 1, reserved: 0 });
  });

  test("is covered by the rest of the run's price", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 1.2 });
    const priced = { ...free, pricing: { per_run: 0.25 } };
    const agent = await makeAgent({ ...priced, model: "admin/dollar" }, creator.key);
    expect((await run(agent, {}, caller)).body).toMatchObject(refusal);
    expect(await walletOf(caller)).toEqual({ balance: 1.2, reserved: 0 });
    expect((await walletOf(creator)).balance).toBe(0);
  });

  test("two concurrent calls cannot use the same money", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 3.5 });
    const agent = await makeAgent({ ...free, model: "admin/dollar" }, creator.key);
    const answers = await Promise.all(Array.from({ length: 10 }, () => run(agent, {}, caller)));
    expect(answers.filter(({ body }) => body.status === "done")).toHaveLength(3);
    for (const { body } of answers) if (body.status !== "done") expect(body).toMatchObject(refusal);
    expect(await walletOf(caller)).toEqual({ balance: 0.5, reserved: 0 });
    expect(await verifyLedger(platform.gantry.database)).toEqual([]);
  });

  test("a model called as a tool is refused, too, and the agent's model learns of it", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 1.5 });
    const agent = await makeAgent({ ...free, model: "admin/gratis", tools }, creator.key);
    callModels("admin/dear");
    expect((await run(agent, {}, caller)).body).toMatchObject({ status: "done", cost: 0 });
    expect(toldLast()).toEqual([expect.stringContaining("Insufficient funds")]);
    callModels("admin/dollar", "admin/dollar");
    expect((await run(agent, {}, caller)).body).toMatchObject({ status: "done", cost: 1 });
    expect(await walletOf(caller)).toEqual({ balance: 0.5, reserved: 0 });
  });

  test("the caller's own agent below another user's is refused, too", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 5 });
    const own = await makeAgent({ ...free, goal: "Work.", model: "admin/dear" }, caller.key);
    const worker = { type: "agent", agent_id: own, name: "worker" };
    const agent = await makeAgent({ ...free, model: "admin/gratis", tools: [worker] }, creator.key);
    platform.llm.script = (request) =>
      request.model === "gratis" && toolResults(request).length === 0
        ? { calls: [{ name: "worker", args: {} }] }
        : { text: "ok" };
    await run(agent, {}, caller);
    expect(await walletOf(caller)).toEqual({ balance: 5, reserved: 0 });
  });
});

test("the caller's own agent may go below zero by one reservation", async () => {
  const owner = await platform.newUser({ credit: 0.5 });
  const agent = await makeAgent({ model: "admin/dollar" }, owner.key);
  expect((await run(agent, {}, owner)).body).toMatchObject({ status: "done", cost: 1 });
  expect(await walletOf(owner)).toEqual({ balance: -0.5, reserved: 0 });
});
