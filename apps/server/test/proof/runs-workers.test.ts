import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { startServer } from "../process/server-process.ts";
import { testDatabase } from "../support/database.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { type LlmRequest, type ScriptedLlm, startScriptedLlm } from "../support/scripted-llm.ts";
import { waitFor } from "../support/wait-for.ts";
import { startWire, type Wire } from "./wire.ts";

/** Two workers on one database, each through its own proxy. */
let own: Awaited<ReturnType<typeof testDatabase>>;
let wires: [Wire, Wire];
let one: GantryNode;
let two: GantryNode;
let llm: ScriptedLlm;
/** The most model calls open at the same time. */
let most = 0;

const env = { GANTRY_RUN_PARALLEL: "20" };

beforeAll(async () => {
  [own, llm] = await Promise.all([testDatabase(), startScriptedLlm()]);
  wires = [await startWire(own.url), await startWire(own.url)];
  one = await startGantry({ env: { ...env, DATABASE_URL: wires[0].url } });
  two = await startGantry({ beside: one, env: { ...env, DATABASE_URL: wires[1].url } });
  await putModel("llm", 100);
}, 60_000);
afterAll(async () => {
  await two.close();
  await one.close();
  for (const each of wires) await each.close();
  await own.drop();
  await llm.close();
}, 60_000);
beforeEach(() => {
  llm.requests.length = 0;
  most = 0;
});
afterEach(async () => {
  const { sql } = own.database;
  await waitFor("all calls to end", async () => (await sql`select 1 from live_predictions`).length === 0, 30_000);
  expect(await verifyLedger(own.database)).toEqual([]);
  const [left] = await sql`
    select (select coalesce(sum(reserved_micros), 0)::int from wallets) as reserved,
      (select coalesce(sum(running), 0)::int from wallets) as running,
      (select coalesce(sum(running + waiting), 0)::int from model_slots) as slots,
      (select concat(coalesce(sum(input_tokens), 0), ' ', sum(cost_micros)) from runs where cardinality(ancestors) = 0) as told,
      (select concat(coalesce(sum(input_tokens), 0), ' ', sum(price_micros)) from usage where route = 'agent') as counted`;
  expect(left).toMatchObject({ reserved: 0, running: 0, slots: 0, told: left?.counted });
});

async function putModel(name: string, capacity: number): Promise<void> {
  const text = { type: "string" };
  const json = {
    title: name,
    kind: "text",
    visibility: "public",
    capacity,
    pricing: { per_million_input_tokens: 10 },
    input: { type: "object", properties: { prompt: text }, required: ["prompt"] },
    output: { type: "object", properties: { output: { ...text, isStream: true } } },
    backend: { type: "openai-chat", url: llm.url, model: "scripted" },
  };
  const put = await one.call("PUT", `/api/v1/admin/${name}`, { json });
  expect(put.status, put.text).toBe(201);
}

let agents = 0;
async function makeAgent(fields: object = {}, key = one.adminKey): Promise<string> {
  const json = { name: `Worker ${++agents}`, goal: "Do it.", tools: [], model: "admin/llm", ...fields };
  const made = await one.call("POST", "/v1/agents", { json, key });
  expect(made.status, made.text).toBe(201);
  expect((await one.call("POST", `/v1/agents/${made.body.id}/publish`, { json: {}, key })).status).toBe(200);
  return made.body.id;
}

async function start(agentId: string, { key = one.adminKey, node = one } = {}): Promise<string> {
  const made = await node.call("POST", `/v1/agents/${agentId}/runs`, { json: { input: {} }, key });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}

const rowOf = async (id: string) =>
  (
    await own.database.sql<{ status: string; error: unknown; claim: number; holder: string; deaths: number }[]>`
      select status, error, claim, holder, deaths from runs where id = ${id}`
  )[0];
const untilOver = (ids: readonly string[], milliseconds = 30_000) =>
  waitFor(
    "the runs to end",
    async () =>
      (
        await own.database.sql`
          select 1 from runs where id = any (${ids as string[]}::text[]) and status in ('done', 'error')`
      ).length === ids.length,
    milliseconds,
  );
async function allDone(ids: readonly string[]): Promise<void> {
  const rows = await own.database.sql<{ id: string; status: string; error: unknown }[]>`
    select id, status, error from runs where id = any (${ids as string[]}::text[]) and status <> 'done'`;
  expect([...rows]).toEqual([]);
}

/** Every call takes this long and is counted while open. */
const slowly =
  (milliseconds: number, text = "done") =>
  async () => {
    most = Math.max(most, llm.open);
    await sleep(milliseconds);
    return { text };
  };

describe("a worker", () => {
  test("that dies three times with a run that makes no progress: the run ends as internal", async () => {
    llm.script = () => new Promise(() => {});
    const run = await start(await makeAgent());
    for (let death = 1; death <= 3; death++) {
      await waitFor("the model to be called", () => llm.requests.length === death, 20_000);
      // What other nodes do when its heartbeat stops.
      const holder = (await rowOf(run))?.holder ?? "";
      await own.database.sql`select release_runs(${holder})`;
      expect(await rowOf(run)).toMatchObject({ deaths: death });
    }
    await untilOver([run]);
    expect(await rowOf(run)).toMatchObject({ status: "error", error: { type: "internal" } });
    const events = (await one.call("GET", `/v1/runs/${run}/events/list`)).body.events;
    expect(events.at(-1)).toMatchObject({ type: "error", error: { type: "internal" } });
    await waitFor("the upstream calls to be closed", () => llm.open === 0);
  }, 60_000);

  test("that drains leaves its runs at the next step, and they continue elsewhere at once", async () => {
    let answer = () => {};
    llm.script = ({ messages }) =>
      messages.some((message) => message.role === "tool")
        ? { text: "done" }
        : new Promise((resolve) => {
            answer = () => resolve({ calls: [{ name: "run_javascript", args: { code: "6 * 7" } }] });
          });
    await pauseBoth();
    const leaving = startServer({
      DATABASE_URL: own.url,
      GANTRY_HOME: one.home,
      GANTRY_ADMIN_KEY: one.adminKey,
      GANTRY_ALLOW_PRIVATE_NETWORK: "1",
    });
    try {
      await leaving.url();
      const run = await start(await makeAgent({ tools: ["run_javascript"] }), { node: two });
      await waitFor("the model to be called", () => llm.requests.length === 1);
      await goOn();
      const holder = (await rowOf(run))?.holder;
      leaving.kill("SIGTERM");
      await sleep(500);
      leaving.kill("SIGTERM");
      await sleep(500);
      expect(await rowOf(run)).toMatchObject({ status: "running", holder });
      answer();
      const leftAt = performance.now();
      await untilOver([run]);
      expect(performance.now() - leftAt).toBeLessThan(10_000);
      await allDone([run]);
      expect(llm.requests.length).toBe(2);
      expect(await leaving.exit).toEqual({ code: 0, signal: null });
    } finally {
      leaving.kill("SIGKILL");
    }
  }, 60_000);

  test("that is killed frees the slots of its users", async () => {
    await one.call("PUT", "/api/v2/admin/plans/one", { json: { requests_per_minute: null, parallel: 1 } });
    const key = await one.newUser("single", { plan: "one" });
    llm.script = () => (llm.requests.length === 1 ? new Promise(() => {}) : { text: "done" });
    await pauseBoth();
    const dying = startServer({
      DATABASE_URL: own.url,
      GANTRY_HOME: one.home,
      GANTRY_ADMIN_KEY: one.adminKey,
      GANTRY_ALLOW_PRIVATE_NETWORK: "1",
    });
    try {
      await dying.url();
      const agent = await makeAgent({}, key);
      const runs = [await start(agent, { key }), await start(agent, { key })];
      await waitFor("the model to be called", () => llm.requests.length === 1);
      await goOn();
      expect(await rowOf(runs[1] ?? "")).toMatchObject({ status: "pending" });
      dying.kill("SIGKILL");
      await untilOver(runs);
      await allDone(runs);
      expect(llm.requests.length).toBe(3);
    } finally {
      dying.kill("SIGKILL");
    }
  }, 60_000);

  test("whose step outlasts the drain limit releases the run; the call is repeated and charged once", async () => {
    await pauseBoth();
    const third = await startGantry({ beside: one, env: { ...env, DATABASE_URL: own.url } });
    llm.script = () => (llm.requests.length === 1 ? new Promise(() => {}) : { text: "done" });
    const run = await start(await makeAgent(), { node: two });
    await waitFor("the model to be called", () => llm.requests.length === 1);
    await goOn();
    const startedAt = performance.now();
    await third.gantry.drain(500);
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    await untilOver([run]);
    await allDone([run]);
    expect(llm.requests.length).toBe(2);
    const paid = await own.database.sql`
      select u.status, u.price_micros > 0 as paid from usage u join ended_predictions e on e.id = u.request_id
      where e.created_at >= (select started_at from runs where id = ${run}) and e.model_name = 'admin/llm' order by 1`;
    expect([...paid]).toEqual([
      { status: 200, paid: true },
      { status: 499, paid: false },
    ]);
    await third.close();
  }, 60_000);
});

/** Both stay but claim no new runs: runs that wait for the model fill their slots. */
let blockers: string[] = [];
let unblock = () => {};
async function pauseBoth(): Promise<void> {
  const script = llm.script;
  const released = new Promise<void>((resolve) => {
    unblock = resolve;
  });
  await putBlocker();
  const blocking = await makeAgent({ model: "admin/blocker", goal: "BLOCK", visibility: "public" });
  llm.script = async () => {
    await released;
    return { text: "done" };
  };
  blockers = await Promise.all(Array.from({ length: 30 }, () => start(blocking)));
  await waitFor("one user to have all slots but those that are kept", () => llm.open === 30, 30_000);
  for (let n = 0; n < 10; n++) blockers.push(await start(blocking, { key: await blockingUser(n) }));
  await waitFor("both workers to be full", () => llm.open === 40, 30_000);
  llm.requests.length = 0;
  llm.script = script;
}
const blockingUsers: string[] = [];
async function blockingUser(n: number): Promise<string> {
  blockingUsers[n] ??= await one.newUser(`blocking-${n}`);
  return blockingUsers[n];
}
async function goOn(): Promise<void> {
  unblock();
  await untilOver(blockers);
}
let hasBlocker = false;
async function putBlocker(): Promise<void> {
  if (!hasBlocker) await putModel("blocker", 100);
  hasBlocker = true;
}

describe("many runs", () => {
  test("of one user do not delay another user's", async () => {
    llm.script = slowly(100);
    const many = await one.newUser("many");
    const few = await one.newUser("few");
    const [agent, other] = [await makeAgent({}, many), await makeAgent({}, few)];
    const all = await Promise.all(Array.from({ length: 200 }, () => start(agent, { key: many })));
    const single = await start(other, { key: few });
    await untilOver([single]);
    const [open] = await own.database.sql<{ n: number }[]>`
      select count(*)::int as n from runs where id = any (${all}::text[]) and status in ('pending', 'running')`;
    expect(open?.n).toBeGreaterThan(60);
    await untilOver(all, 60_000);
    await allDone([...all, single]);
  }, 90_000);

  test("with sub-agents on two workers at once: no deadlock, all finish, everything is counted", async () => {
    const child = await makeAgent({ goal: "CHILD" });
    const agent = await makeAgent({ goal: "PARENT", tools: [{ type: "agent", agent_id: child, name: "child" }] });
    llm.script = ({ messages }: LlmRequest) => {
      const isParent = messages[1]?.content?.startsWith("PARENT");
      if (!isParent || messages.some((message) => message.role === "tool")) return { text: "done" };
      return { calls: [0, 1].map(() => ({ name: "child", args: {} })) };
    };
    const deadlocks = async () =>
      (
        await own.database.sql<{ n: number }[]>`
          select deadlocks::int as n from pg_stat_database where datname = current_database()`
      )[0]?.n;
    const before = await deadlocks();
    const ids = await Promise.all(
      Array.from({ length: 200 }, (_, i) => start(agent, { node: i % 2 === 0 ? one : two })),
    );
    await untilOver(ids, 120_000);
    await allDone(ids);
    const [sums] = await own.database.sql`
      select count(*)::int as n, count(distinct holder)::int as holders, min(input_tokens)::int as least,
        max(input_tokens)::int as most from runs where id = any (${ids}::text[])`;
    expect(sums).toMatchObject({ n: 200, least: 400, most: 400 });
    await sleep(1_100); // PostgreSQL writes its counters once a second
    expect(await deadlocks()).toBe(before);
  }, 180_000);
});

describe("model calls of runs", () => {
  test("above the plan's parallel limit wait instead of failing, on two workers", async () => {
    const calls = Array.from({ length: 8 }, () => ({
      name: "run_model",
      args: { model: "admin/llm", input: { prompt: "x" } },
    }));
    llm.script = (request) => {
      const isAgent = request.tools !== undefined && request.messages.every(({ role }) => role !== "tool");
      return isAgent ? { calls } : slowly(150)();
    };
    const key = await one.newUser("frugal", { plan: "free" });
    const agent = await makeAgent({ tools: ["run_model"] }, key);
    const ids = await Promise.all([start(agent, { key }), start(agent, { key, node: two })]);
    await untilOver(ids);
    await allDone(ids);
    expect(most).toBe(4);
  }, 60_000);

  test("above the model's capacity wait, fairly with clients, and never exceed the capacity", async () => {
    await putModel("narrow", 1);
    llm.script = slowly(100);
    const agent = await makeAgent({ model: "admin/narrow" });
    const ids = await Promise.all([
      start(agent),
      start(agent, { node: two }),
      start(agent),
      start(agent, { node: two }),
    ]);
    const clients = await Promise.all(
      [one, two, one].map((node) =>
        node.call("POST", "/api/v1/admin/narrow/predict/stream/", { form: { prompt: "x" } }),
      ),
    );
    expect(clients.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const { text } of clients) expect(text).toContain("done");
    await untilOver(ids);
    await allDone(ids);
    expect(most).toBe(1);
  }, 60_000);

  test("start even when the notification of a free slot is lost", async () => {
    await putModel("quiet", 1);
    let free = () => {};
    llm.script = () =>
      llm.requests.length === 1
        ? new Promise((resolve) => {
            free = () => resolve({ text: "first" });
          })
        : { text: "second" };
    const client = two.call("POST", "/api/v1/admin/quiet/predict/stream/", { form: { prompt: "x" } });
    await waitFor("the client's call", () => llm.open === 1);
    const run = await start(await makeAgent({ model: "admin/quiet" }));
    const waits = () => own.database.sql`
      select 1 from live_predictions where route = 'agent' and started_at is null and model_name = 'admin/quiet'`;
    await waitFor("the call to wait", async () => (await waits()).length === 1);
    for (const each of wires) each.cutListeners();
    const freedAt = performance.now();
    free();
    expect((await client).status).toBe(200);
    await untilOver([run]);
    expect(performance.now() - freedAt).toBeLessThan(20_000);
    await allDone([run]);
    for (const each of wires) each.mend();
  }, 60_000);
});
