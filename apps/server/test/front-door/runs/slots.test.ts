import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { type LlmRequest, type ScriptedLlm, startScriptedLlm, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, run, start, ended, newUser } = platform;

const goalOf = ({ messages }: LlmRequest): string => messages[1]?.content ?? "";
const silent = () => new Promise<never>(() => {});

async function putPlan(name: string, parallel: number | null): Promise<void> {
  const json = { requests_per_minute: null, parallel };
  const put = await platform.gantry.call("PUT", `/api/v2/admin/plans/${name}`, { json });
  expect(put.status, put.text).toBeLessThan(300);
}

async function countRuns(status: string, key: string): Promise<number> {
  return (await platform.gantry.call("GET", `/v1/runs?status=${status}&limit=1`, { key })).body.total;
}

async function cancelAll(ids: readonly string[], key: string): Promise<void> {
  const path = (id: string) => `/v1/runs/${id}/cancel`;
  for (const cancelled of await Promise.all(ids.map((id) => platform.gantry.call("POST", path(id), { key })))) {
    expect(cancelled.body, cancelled.text).toMatchObject({ error: { type: "cancelled" } });
  }
}

describe("a user with more runs than the plan allows in parallel", () => {
  test("takes no slots of other users: the rest stays pending, and a freed slot goes to the next", async () => {
    await putPlan("four", 4);
    const { key } = await newUser({ plan: "four" });
    const agent = await makeAgent({ goal: "Silence." }, key);
    const release: (() => void)[] = [];
    platform.llm.script = (request) =>
      goalOf(request).startsWith("Silence.")
        ? new Promise((resolve) => release.push(() => resolve({ text: "done" })))
        : { text: "done" };
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) ids.push(await start(agent, { timeout_seconds: 3600 }, { key }));
    const more = Array.from({ length: 60 }, () => start(agent, { timeout_seconds: 3600 }, { key }));
    ids.push(...(await Promise.all(more)));
    await waitFor("four runs in work", () => release.length === 4);
    expect(await countRuns("running", key)).toBe(4);
    expect(await countRuns("pending", key)).toBe(62);

    const victim = await newUser({ plan: "four" });
    const answer = await run(await makeAgent({ goal: "Work." }, victim.key), {}, { key: victim.key });
    expect(answer.body, answer.text).toMatchObject({ status: "done" });

    release[0]?.();
    await waitFor("the next run in work", () => release.length === 5);
    expect(await countRuns("running", key)).toBe(4);
    expect(await countRuns("done", key)).toBe(1);
    // Pending runs need no slot to be cancelled.
    await cancelAll(ids.slice(6), key);
    await Promise.all(ids.slice(0, 6).map((id) => platform.gantry.call("POST", `/v1/runs/${id}/cancel`, { key })));
  }, 60_000);

  test("has more of them executed once an admin changes the plan", async () => {
    await putPlan("growing", 1);
    const { key } = await newUser({ plan: "growing" });
    const agent = await makeAgent({ goal: "Silence." }, key);
    platform.llm.script = silent;
    const ids = await Promise.all(Array.from({ length: 4 }, () => start(agent, {}, { key })));
    await waitFor("one run in work", () => platform.llm.requests.length === 1);
    expect(await countRuns("pending", key)).toBe(3);
    await putPlan("growing", 3);
    await waitFor("three runs in work", () => platform.llm.requests.length === 3);
    expect(await countRuns("pending", key)).toBe(1);
    await cancelAll(ids, key);
  });

  test("has its sub-agents counted, and a run that waits for one uses no slot", async () => {
    await putPlan("one", 1);
    const { key } = await newUser({ plan: "one" });
    const asTool = (agent_id: string, name: string) => ({ type: "agent", agent_id, name });
    const leaf = await makeAgent({ goal: "Leaf." }, key);
    const middle = await makeAgent({ goal: "Middle.", tools: [asTool(leaf, "leaf")] }, key);
    const root = await makeAgent({ goal: "Root {{n}}.", tools: [asTool(middle, "middle")] }, key);
    const asked: string[] = [];
    let most = 0;
    platform.llm.script = async (request) => {
      const goal = goalOf(request);
      const isFirst = toolResults(request).length === 0;
      if (isFirst) asked.push(goal.split(".")[0] as string);
      const rows = await platform.gantry.database.sql`
        select 1 from runs r join users u on u.id = r.user_id where u.plan = 'one' and r.holder is not null`;
      most = Math.max(most, rows.length);
      if (!isFirst || goal.startsWith("Leaf.")) return { text: "done" };
      const name = goal.startsWith("Middle.") ? "leaf" : "middle";
      return { calls: [1, 2].map(() => ({ name, args: {} })) };
    };
    const first = await start(root, { input: { n: 1 } }, { key });
    const second = await start(root, { input: { n: 2 } }, { key });
    for (const id of [first, second]) expect(await ended(id, key)).toMatchObject({ status: "done" });
    expect(most).toBe(1);
    // A started root finishes before the next one starts.
    const tree = ["Middle", "Middle", "Leaf", "Leaf", "Leaf", "Leaf"];
    expect(asked).toEqual(["Root 1", ...tree, "Root 2", ...tree]);
  });
});

test("a claim reads few rows however many runs of one user are pending", async () => {
  const { key } = await newUser({ plan: "free" });
  const agent = await makeAgent({ goal: "Work." }, key);
  const { body } = await run(agent, {}, { key });
  const rollback = new Error("rolled back");
  const claiming = platform.gantry.database.transaction(async (tx) => {
    await tx`
      insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, input, timeout_ms, max_steps, base_url)
      select 'run_many_' || n, agent_id, revision_id, owner_id, user_id, key_id, '{}', 1000, 1, ''
      from runs, generate_series(1, 10000) n where id = ${body.id}`;
    const rowsRead = async () => {
      const [row] = await tx<{ n: number }[]>`
        select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as n from pg_stat_xact_user_tables where relname = 'runs'`;
      return row?.n ?? 0;
    };
    const before = await rowsRead();
    expect(await tx`select id from claim_runs('test', 20, 20)`).toHaveLength(4);
    expect((await rowsRead()) - before).toBeLessThan(50);
    // A user at the limit costs no more rows.
    expect(await tx`select id from claim_runs('test', 20, 20)`).toHaveLength(0);
    expect((await rowsRead()) - before).toBeLessThan(100);
    throw rollback;
  });
  await expect(claiming).rejects.toBe(rollback);
});

test("runs that wait in sequences do not hold up other runs of their user", async () => {
  const { key } = await newUser({ plan: "free" });
  const agent = await makeAgent({ goal: "Work." }, key);
  const { body } = await run(agent, {}, { key });
  const rollback = new Error("rolled back");
  const claiming = platform.gantry.database.transaction(async (tx) => {
    // In each of 20 sequences one run waits for a confirmation, and 100 wait for it. The 21st has only its second run left.
    await tx`
      insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, input, timeout_ms, max_steps, base_url, status,
        parked, sequence)
      select 'run_blocked_' || s || '_' || n, agent_id, revision_id, owner_id, user_id, key_id, '{}', 1000, 1, '',
        case n when 100 then 'running' else 'pending' end, n = 100, 'sequence ' || s
      from runs, generate_series(101, 121) s, generate_series(100, 200) n where id = ${body.id}`;
    await tx`delete from runs where id = 'run_blocked_121_100'`;
    await tx`
      insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, input, timeout_ms, max_steps, base_url)
      select 'run_free', agent_id, revision_id, owner_id, user_id, key_id, '{}', 1000, 1, '' from runs where id = ${body.id}`;
    const claimed = await tx<{ id: string }[]>`select id from claim_runs('test', 20, 20) order by id`;
    expect(claimed.map(({ id }) => id)).toEqual(["run_blocked_121_101", "run_free"]);
    throw rollback;
  });
  await expect(claiming).rejects.toBe(rollback);
});

describe("live descendants of a run", () => {
  test("are limited to 1,000: a call beyond that fails, and the model learns of it", async () => {
    const child = await makeAgent({ goal: "Child." });
    const parent = await makeAgent({ goal: "Parent.", tools: [{ type: "agent", agent_id: child, name: "child" }] });
    const { sql } = platform.gantry.database;
    const results: string[] = [];
    platform.llm.script = async (request) => {
      if (goalOf(request).startsWith("Child.")) return { text: "well" };
      results.push(...toolResults(request));
      if (results.length > 0) {
        await sql`delete from runs where id like 'run_filler_%'`;
        return { text: "done" };
      }
      // Parked, so that no worker claims them.
      await sql`
        insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, ancestors, input, timeout_ms, max_steps,
          base_url, parked)
        select 'run_filler_' || n, r.agent_id, r.revision_id, r.owner_id, r.user_id, r.key_id, array[r.id], '{}', 1000, 1,
          '', true
        from runs r, generate_series(1, 999) n where r.agent_id = ${parent} and r.status = 'running'`;
      return { calls: [1, 2].map(() => ({ name: "child", args: {} })) };
    };
    expect((await run(parent)).body).toMatchObject({ status: "done" });
    expect(results.filter((text) => text.includes("well"))).toHaveLength(1);
    expect(results.filter((text) => text.includes("already has 1,000 sub-agents"))).toHaveLength(1);
  });
});

describe("slots of a node", () => {
  let node: GantryNode;
  let llm: ScriptedLlm;
  const env = { GANTRY_RUN_PARALLEL: "4" };
  const text = { type: "string" };
  beforeAll(async () => {
    [node, llm] = await Promise.all([startGantry({ env }), startScriptedLlm()]);
    const json = {
      title: "Scripted",
      kind: "text",
      visibility: "public",
      capacity: 50,
      input: { type: "object", properties: { prompt: text }, required: ["prompt"] },
      output: { type: "object", properties: { output: { ...text, isStream: true } } },
      backend: { type: "openai-chat", url: llm.url, model: "scripted" },
    };
    expect((await node.call("PUT", "/api/v1/admin/scripted", { json })).status).toBe(201);
    const plan = { requests_per_minute: null, parallel: 4 };
    await node.call("PUT", "/api/v2/admin/plans/four", { json: plan });
  });
  afterAll(async () => {
    await node.close();
    await llm.close();
  });

  async function newAgent(key: string, model: string): Promise<string> {
    const json = { name: "Greeter", goal: "Say hello", tools: [], model };
    const { body } = await node.call("POST", "/v1/agents", { json, key });
    await node.call("POST", `/v1/agents/${body.id}/publish`, { json: {}, key });
    return body.id;
  }
  const startOn = async (where: GantryNode, agent: string, key: string, wait = 0) =>
    (await where.call("POST", `/v1/agents/${agent}/runs`, { json: { input: {}, wait }, key })).body;

  test("are never all taken by one user without a limit", async () => {
    llm.script = silent;
    const key = await node.newUser("crowd");
    const agent = await newAgent(key, "admin/scripted");
    const runs = await Promise.all(Array.from({ length: 8 }, () => startOn(node, agent, key)));
    await waitFor("three runs in work", () => llm.requests.length === 3);
    // Each gets the reserved slot, one after the other.
    for (const name of ["guest-1", "guest-2"]) {
      const guest = await node.newUser(name);
      const own = await newAgent(guest, "gantry/rules");
      expect(await startOn(node, own, guest, 20)).toMatchObject({ status: "done" });
    }
    expect(llm.requests).toHaveLength(3);
    await Promise.all(runs.map(({ id }) => node.call("POST", `/v1/runs/${id}/cancel`, { key })));
  });

  test("of two nodes together give a user exactly what the plan allows", async () => {
    const other = await startGantry({ beside: node, env });
    try {
      const key = await node.newUser("spread", { plan: "four" });
      const agent = await newAgent(key, "admin/scripted");
      let most = 0;
      const holders = new Set<string>();
      llm.script = async () => {
        const rows = await node.database.sql<{ holder: string }[]>`
          select r.holder from runs r join users u on u.id = r.user_id where u.plan = 'four' and r.holder is not null`;
        most = Math.max(most, rows.length);
        for (const { holder } of rows) holders.add(holder);
        return { text: "done" };
      };
      const made = await Promise.all(
        Array.from({ length: 40 }, (_, n) => startOn(n % 2 === 0 ? node : other, agent, key)),
      );
      await waitFor("all runs to be done", async () => {
        const { body } = await node.call("GET", "/v1/runs?status=done&limit=1", { key });
        return body.total === made.length;
      });
      // One user alone gets three slots of each node, and here four of both.
      expect(most).toBe(4);
      expect(holders.size).toBe(2);
    } finally {
      await other.close();
    }
  }, 60_000);
});
