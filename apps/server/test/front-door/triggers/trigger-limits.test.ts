import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import { waitFor } from "../../support/wait-for.ts";

let t: AgentRuns;

beforeAll(async () => {
  t = await startAgentRuns();
});
afterAll(async () => {
  expect(await verifyLedger(t.gantry.database)).toEqual([]);
  await t.close();
});

const call: AgentRuns["gantry"]["call"] = (...args) => t.gantry.call(...args);
const publicAgent = { model: "gantry/rules", visibility: "public" };

async function makeTrigger(agentId: string, key: string, body: object = {}) {
  const made = await call("POST", `/v1/agents/${agentId}/triggers`, { json: body, key });
  expect(made.status, made.text).toBe(201);
  return made.body;
}

async function send(url: string, body: object = {}) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
  const answer: any = await response.json();
  return { status: response.status, headers: response.headers, body: answer };
}

test("a trigger on another user's agent is paid by its owner, within the expected price", async () => {
  const creator = await t.gantry.newUser("trg-creator");
  const buyer = await t.gantry.newUser("trg-buyer", { credit: 0.03 });
  const agent = await t.makeAgent({ ...publicAgent, pricing: { per_run: 0.02 } }, { key: creator });
  // Without `expected_price`, the present price is expected.
  const trigger = await makeTrigger(agent, buyer);
  expect(trigger.expected_price).toBe(0.02);
  expect((await makeTrigger(agent, buyer, { expected_price: null, enabled: false })).expected_price).toBeNull();
  expect((await makeTrigger(agent, creator)).expected_price).toBeNull();
  const paid = await send(trigger.url);
  expect(paid.status).toBe(202);
  const run = (await call("GET", `/v1/runs/${paid.body.run_id}?wait=20`, { key: buyer })).body;
  expect(run).toMatchObject({ status: "done", cost: 0.02 });

  // The sender learns nothing about the balance; the owner does.
  const broke = await send(trigger.url);
  expect([broke.status, broke.body.error.type]).toEqual([403, "insufficient_funds"]);
  expect(broke.body.error.message).toBe("The owner of the trigger has insufficient funds");
  const read = async () => (await call("GET", `/v1/triggers/${trigger.id}`, { key: buyer })).body;
  expect((await read()).status).toBe("active");

  await call("PATCH", `/v1/agents/${agent}`, { key: creator, json: { pricing: { per_run: 0.01 } } });
  await call("POST", `/v1/agents/${agent}/publish`, { key: creator, json: {} });
  expect((await send(trigger.url)).status).toBe(409);
  await call("PATCH", `/v1/triggers/${trigger.id}`, { key: buyer, json: { expected_price: 0.01 } });
  expect((await send(trigger.url)).status).toBe(202);
  const { deliveries } = (await call("GET", `/v1/triggers/${trigger.id}/deliveries`, { key: buyer })).body;
  expect(deliveries.map(({ status }: { status: string }) => status)).toEqual([
    "accepted",
    "refused",
    "refused",
    "accepted",
  ]);

  // Hidden again: the trigger cannot run it, and says so.
  await call("PATCH", `/v1/agents/${agent}`, { key: creator, json: { visibility: "private" } });
  const gone = await send(trigger.url);
  expect([gone.status, gone.body.error.type]).toEqual([409, "conflict"]);
  expect(await read()).toMatchObject({ status: "paused", paused_reason: expect.stringContaining("not public") });
});

test("a trigger whose key stopped working pauses, until another key enables it", async () => {
  const first = await t.gantry.newUser("trg-owner");
  const agent = await t.makeAgent(publicAgent, { key: first });
  const made = (await call("POST", "/api/v2/keys", { json: { name: "second" }, key: first })).body;
  const trigger = await makeTrigger(agent, made.key);
  expect((await send(trigger.url)).status).toBe(202);
  expect((await call("DELETE", `/api/v2/keys/${made.id}`, { key: first })).status).toBe(204);
  const refused = await send(trigger.url);
  expect([refused.status, refused.body.error.type]).toEqual([409, "conflict"]);
  expect((await call("GET", `/v1/triggers/${trigger.id}`, { key: first })).body).toMatchObject({
    status: "paused",
    paused_reason: "The API key of the trigger no longer works. Enable the trigger again with another key.",
  });
  // A change alone does not make another key pay.
  const renamed = await call("PATCH", `/v1/triggers/${trigger.id}`, { key: first, json: { name: "Mine" } });
  expect(renamed.body).toMatchObject({ status: "paused", name: "Mine" });
  const resumed = await call("PATCH", `/v1/triggers/${trigger.id}`, { key: first, json: { enabled: true } });
  expect(resumed.body).toMatchObject({ status: "active", paused_reason: null });
  expect((await send(trigger.url)).status).toBe(202);
});

test("the limits of the key hold, also after another key rotated the address", async () => {
  const owner = await t.gantry.newUser("trg-limited");
  const seller = await t.gantry.newUser("trg-seller");
  const agent = await t.makeAgent({ ...publicAgent, pricing: { per_run: 0.02 } }, { key: seller });
  const limited = (await call("POST", "/api/v2/keys", { json: { name: "limited", monthly_limit: 0.01 }, key: owner }))
    .body.key;
  const trigger = await makeTrigger(agent, owner);
  const rotated = (await call("POST", `/v1/triggers/${trigger.id}/rotate`, { key: limited })).body;
  expect((await send(rotated.url)).body.error.type).toBe("insufficient_funds");
});

test("rate limits answer 429 with Retry-After", async () => {
  const plan = { requests_per_minute: 2, parallel: 2 };
  const put = await call("PUT", "/api/v2/admin/plans/trg-slow", { json: plan });
  expect(put.status, put.text).toBeLessThan(300);
  const owner = await t.gantry.newUser("trg-slow", { plan: "trg-slow" });
  const trigger = await makeTrigger(await t.makeAgent(publicAgent, { key: owner }), owner);
  const answers = [await send(trigger.url), await send(trigger.url), await send(trigger.url)];
  const limited = answers.find(({ status }) => status === 429);
  expect(limited?.body.error.type).toBe("rate_limit");
  expect(Number(limited?.headers.get("retry-after"))).toBeGreaterThan(0);
});

test("with overlap queue, runs of a trigger run one at a time in order of arrival", async () => {
  const order: string[] = [];
  let most = 0;
  t.llm.script = async ({ messages }) => {
    most = Math.max(most, t.llm.open);
    order.push((messages[1]?.content ?? "").slice(0, 1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    return { text: "done" };
  };
  const agent = await t.makeAgent({ goal: "{{n}}" });
  const trigger = await makeTrigger(agent, t.gantry.adminKey, { overlap: "queue" });
  for (const n of [1, 2, 3, 4]) expect((await send(trigger.url, { n })).status).toBe(202);
  await waitFor("the runs", () => order.length === 4);
  expect(order).toEqual(["1", "2", "3", "4"]);
  expect(most).toBe(1);
});

test("a queue of runs has a bound", async () => {
  t.llm.script = () => ({ text: "done" });
  const { sql } = t.gantry.database;
  const trigger = await makeTrigger(await t.makeAgent(), t.gantry.adminKey, { overlap: "queue" });
  expect((await send(trigger.url)).status).toBe(202);
  const first = (await t.gantry.call("GET", `/v1/triggers/${trigger.id}`)).body.last_run_id;
  await t.ended(first);
  // Waiting copies of the run. The first one has started and is parked.
  await sql`
    insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, ancestors, input, timeout_ms, max_steps, approve,
      connectors, base_url, call_id, status, parked, source_id, sequence)
    select 'run_' || lpad(n::text, 26, '0'), agent_id, revision_id, owner_id, user_id, key_id, ancestors, input, timeout_ms,
      max_steps, approve, connectors, base_url, 'pred_' || n, case n when 1 then 'running' else 'pending' end,
      n = 1, source_id, sequence
    from runs, generate_series(1, 99) n where id = ${first}`;
  expect((await send(trigger.url)).status).toBe(202);
  const full = await send(trigger.url);
  expect([full.status, full.body.error.message]).toEqual([429, expect.stringContaining("100 runs of the trigger")]);
  await sql`delete from runs where source_id = ${trigger.id} and completed_at is null`;
  expect((await send(trigger.url)).status).toBe(202);
});

test("a flood of wrong addresses writes nothing, and refusals are stored within a bound", async () => {
  const trigger = await makeTrigger(await t.makeAgent(), t.gantry.adminKey, {
    verification: { type: "github", secret: "a-secret-of-github" },
  });
  const count = async () =>
    Number((await t.gantry.database.sql`select count(*) as n from trigger_deliveries`)[0]?.n ?? 0);
  const before = await count();
  const wrong = await Promise.all(
    Array.from({ length: 200 }, (_, n) => send(trigger.url.replace(/.{6}$/, String(n).padStart(6, "0")))),
  );
  expect(new Set(wrong.map(({ status }) => status))).toEqual(new Set([404]));
  expect(await count()).toBe(before);
  const unsigned = await Promise.all(Array.from({ length: 60 }, () => send(trigger.url)));
  expect(new Set(unsigned.map(({ status }) => status))).toEqual(new Set([401]));
  expect(await count()).toBe(before + 30);
});
