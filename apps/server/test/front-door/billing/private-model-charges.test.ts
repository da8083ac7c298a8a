import { describe, expect, test } from "vitest";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, type LlmRequest } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, makeModel, run, start, read, ended, events } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
type User = Awaited<ReturnType<typeof platform.newUser>>;

const walletOf = async ({ key }: User) => {
  const { balance, reserved } = (await call("GET", "/api/v2/me", { key })).body;
  return { balance, reserved };
};
const usageOf = async ({ key }: User) => (await call("GET", "/api/v2/usage", { key })).body.results;

/** A user with a private model at this price per request, and a public agent on it. */
async function seller(perRequest: number, { credit = 100, agent = {}, manifest = {} } = {}) {
  const user = await platform.newUser({ credit, plan: "pro" });
  await makeModel("hidden", { visibility: "private", pricing: { per_request: perRequest }, ...manifest }, user);
  const fields = { visibility: "public", goal: "Help with {{thing}}.", model: `${user.name}/hidden`, ...agent };
  return { user, agent: await makeAgent(fields, user.key) };
}

describe("a private model behind another user's agent", () => {
  test("is charged to its owner, not to the caller", async () => {
    const { user: creator, agent } = await seller(40);
    const caller = await platform.newUser({ credit: 50 });
    const model = `${creator.name}/hidden`;
    expect((await call("GET", `/api/v1/${model}`, caller)).status).toBe(403);
    const answer = await run(agent, { input: { thing: "THE-CALLERS-SECRET" } }, caller);
    expect(answer.body).toMatchObject({ status: "done", cost: 0, usage: { input_tokens: 100, output_tokens: 10 } });
    expect(await walletOf(caller)).toEqual({ balance: 50, reserved: 0 });
    expect(await walletOf(creator)).toEqual({ balance: 60, reserved: 0 });
    expect(await usageOf(caller)).toEqual([]);

    const [row, ...others] = await usageOf(creator);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ model_name: model, route: "agent", status: 200, price: 40 });
    expect(JSON.stringify(row)).not.toContain("SECRET");
    for (const who of [creator, caller]) {
      const query = `request_id=${row.request_id}`;
      const result = await call("GET", `/api/v1/${model}/predict/async/result/?${query}`, { key: who.key });
      expect(result.status).toBe(who === creator ? 404 : 403);
      expect(result.text).not.toContain("done");
    }
    const cancelled = await call("POST", `/api/v1/${model}/predict/cancel/?prediction_id=${row.request_id}`, creator);
    expect(cancelled.status).toBe(404);
    expect((await call("GET", "/api/v2/ledger", caller)).text).not.toContain("hidden");
    const [stored] = await platform.gantry.database.sql`
      select key_id from ended_predictions where id = ${row.request_id}`;
    expect(stored?.key_id).toBeNull();
  });

  test("counts neither in max_cost nor against the caller's key", async () => {
    const { agent } = await seller(1, { agent: { pricing: { per_run: 0.5 } } });
    const caller = await platform.newUser({ credit: 1, key: { monthly_limit: 0.5 } });
    const answer = await run(agent, { max_cost: 0.5, expected_price: 0.5 }, caller);
    expect(answer.body).toMatchObject({ status: "done", cost: 0.5 });
    expect(await walletOf(caller)).toEqual({ balance: 0.5, reserved: 0 });
  });

  test("ends the run if its owner cannot pay for the whole call, and the price is refunded", async () => {
    const { user: creator, agent } = await seller(40, { credit: 39.99, agent: { pricing: { per_run: 2 } } });
    const caller = await platform.newUser({ credit: 5 });
    const answer = await run(agent, {}, caller);
    expect(answer.body).toMatchObject({
      status: "error",
      cost: 0,
      error: {
        type: "insufficient_funds",
        message: "The agent's creator does not have enough credit for its private model. You were not charged.",
      },
    });
    expect(await walletOf(caller)).toEqual({ balance: 5, reserved: 0 });
    expect(await walletOf(creator)).toEqual({ balance: 39.99, reserved: 0 });
    expect(platform.llm.requests).toEqual([]);
  });

  test("never takes its owner below zero, however many calls run at once", async () => {
    const { user: creator, agent } = await seller(1, { credit: 3.5 });
    const callers = await Promise.all(Array.from({ length: 6 }, () => platform.newUser({ credit: 0 })));
    const answers = await Promise.all(callers.map((caller) => run(agent, {}, caller)));
    expect(answers.filter(({ body }) => body.status === "done")).toHaveLength(3);
    expect(await walletOf(creator)).toEqual({ balance: 0.5, reserved: 0 });
    for (const caller of callers) expect(await walletOf(caller)).toEqual({ balance: 0, reserved: 0 });
  });

  test("is charged to the caller once it is public", async () => {
    const { user: creator, agent } = await seller(1);
    const caller = await platform.newUser({ credit: 10 });
    const manifest = `/api/v1/${creator.name}/hidden`;
    expect((await call("PATCH", manifest, { ...creator, json: { visibility: "public" } })).status).toBe(200);
    expect((await run(agent, {}, caller)).body).toMatchObject({ status: "done", cost: 1 });
    expect(await walletOf(caller)).toEqual({ balance: 9, reserved: 0 });
    expect((await walletOf(creator)).balance).toBe(100);
  });

  test("is charged to the owner of the sub-agent that uses it", async () => {
    const { user: inner, agent: innerAgent } = await seller(3);
    const { user: outer, agent } = await seller(2, {
      agent: { tools: [{ type: "agent", agent_id: innerAgent, name: "helper" }] },
    });
    const caller = await platform.newUser({ credit: 1 });
    platform.llm.script = (request: LlmRequest) =>
      request.tools?.length && request.messages.every(({ role }) => role !== "tool")
        ? { calls: [{ name: "helper", args: {} }] }
        : { text: "ok" };
    expect((await run(agent, {}, caller)).body).toMatchObject({ status: "done", cost: 0 });
    expect((await walletOf(inner)).balance).toBe(97);
    expect((await walletOf(outer)).balance).toBe(96);
    expect(await walletOf(caller)).toEqual({ balance: 1, reserved: 0 });
    // Its creator pays the model's price for the same agent.
    platform.llm.script = () => ({ text: "ok" });
    expect((await run(agent, {}, outer)).body).toMatchObject({ status: "done", cost: 2 });
  });

  test("does not count as the owner's parallel prediction, and waits only for the model's capacity", async () => {
    const { user: creator, agent } = await seller(1, { manifest: { capacity: 2 } });
    await call("PATCH", `/api/v2/admin/users/${creator.name}`, { json: { plan: "free" } });
    const release = gate();
    platform.llm.script = () => release.promise.then(() => ({ text: "ok" }));
    // Four calls of the owner fill the plan.
    await makeModel("mine", { visibility: "private", pricing: {} }, creator);
    const own = await makeAgent({ model: `${creator.name}/mine` }, creator.key);
    const fillers = await Promise.all(Array.from({ length: 4 }, () => start(own, {}, creator)));
    await waitFor("the plan to be full", () => platform.llm.open === 4);
    const callers = await Promise.all(Array.from({ length: 3 }, () => platform.newUser({ credit: 0 })));
    const runs = await Promise.all(callers.map((caller) => start(agent, {}, caller)));
    await waitFor("the model to be full", () => platform.llm.open === 6);
    expect(await verifyLedger(platform.gantry.database)).toEqual([]);
    const [wallet] = await platform.gantry.database.sql`
      select running from wallets w join users u on u.id = w.user_id where u.username = ${creator.name}`;
    expect(wallet?.running).toBe(4);
    release.open();
    for (const [n, id] of runs.entries()) expect((await ended(id, callers[n]?.key)).status).toBe("done");
    for (const id of fillers) expect((await ended(id, creator.key)).status).toBe("done");
    expect((await walletOf(creator)).balance).toBe(97);
  });

  test("is not charged for a failed call, and is charged for a cancelled one as usual", async () => {
    const { user: creator, agent } = await seller(1);
    const caller = await platform.newUser({ credit: 0 });
    platform.llm.script = () => ({ status: 400 });
    expect((await run(agent, {}, caller)).body).toMatchObject({ status: "error", cost: 0 });
    expect(await walletOf(creator)).toEqual({ balance: 100, reserved: 0 });
    platform.llm.script = () => new Promise(() => {});
    const id = await start(agent, {}, caller);
    await waitFor("the model to be called", () => platform.llm.open === 1);
    await call("POST", `/v1/runs/${id}/cancel`, caller);
    expect(await read(id, caller.key)).toMatchObject({ status: "error", cost: 0 });
    expect(await walletOf(creator)).toEqual({ balance: 100, reserved: 0 });
  });

  test("is charged once to its owner although a crash loses the answer and the model became public", async () => {
    const { user: creator, agent } = await seller(1);
    const caller = await platform.newUser({ credit: 5 });
    const held = gate();
    platform.llm.script = () => held.promise.then(() => ({ text: "The answer." }));
    const id = await start(agent, {}, caller);
    await waitFor("the model to be asked", () => platform.llm.open === 1);
    const { database } = platform.gantry;
    await database.transaction(async (tx) => {
      // The run cannot be written under this lock, so its worker loses the paid answer.
      await tx`select 1 from runs where id = ${id} for update`;
      held.open();
      await waitFor("the answer to be paid", async () => (await usageOf(creator)).length === 1);
      await call("PATCH", `/api/v1/${creator.name}/hidden`, { ...creator, json: { visibility: "public" } });
      await tx`select release_runs(holder) from runs where id = ${id}`;
    });
    expect(await ended(id, caller.key)).toMatchObject({ status: "done", output: { text: "The answer." }, cost: 0 });
    expect(platform.llm.requests).toHaveLength(1);
    expect(await walletOf(creator)).toEqual({ balance: 99, reserved: 0 });
    expect(await walletOf(caller)).toEqual({ balance: 5, reserved: 0 });
  });

  test("does not appear in the caller's charges", async () => {
    const { user: creator, agent } = await seller(1, { agent: { tools: ["run_javascript"] } });
    const caller = await platform.newUser({ credit: 1 });
    platform.llm.script = inTurn({ calls: [{ name: "run_javascript", args: { code: "1 + 1" } }] }, { text: "2" });
    const answer = await run(agent, {}, caller);
    expect(answer.body).toMatchObject({ status: "done", cost: 0 });
    expect((await walletOf(creator)).balance).toBe(98);
    const expenses = await call("GET", `/${caller.name}/expenses/`, caller);
    expect(expenses.text).not.toContain("hidden");
    expect((await events(answer.body.id, caller.key)).map(({ type }) => type)).toContain("completed");
  });
});

describe("the owner of an agent on a private model", () => {
  const message = (user: User) => `You pay for your private model ${user.name}/hidden when other users run this agent`;
  const warningsOf = async (agent: string, { key }: User) =>
    (await call("GET", `/v1/agents/${agent}`, { key })).body.warnings.filter(isOfModel);
  const isOfModel = ({ field }: { field: string }) => field === "model";

  test("is warned when the agent becomes public and when it is published", async () => {
    const { user, agent } = await seller(1);
    expect(await warningsOf(agent, user)).toEqual([{ field: "model", message: message(user) }]);
    const json = { name: "Another", goal: "Help.", tools: [], model: `${user.name}/hidden` };
    const open = await call("POST", "/v1/agents", { ...user, json: { ...json, visibility: "public" } });
    expect(open.body.warnings).toEqual([{ field: "model", message: message(user) }]);
    const published = await call("POST", `/v1/agents/${open.body.id}/publish`, { ...user, json: {} });
    expect(published.body.warnings).toEqual([{ field: "model", message: message(user) }]);
  });

  test("is not warned about a private agent, a public model or a free one", async () => {
    const { user, agent } = await seller(1, { agent: { visibility: "private" } });
    expect(await warningsOf(agent, user)).toEqual([]);
    const changed = await call("PATCH", `/v1/agents/${agent}`, { ...user, json: { visibility: "public" } });
    expect(changed.body.warnings.filter(isOfModel)).toEqual([{ field: "model", message: message(user) }]);
    await call("PATCH", `/api/v1/${user.name}/hidden`, { ...user, json: { pricing: {} } });
    expect(await warningsOf(agent, user)).toEqual([]);
  });
});
