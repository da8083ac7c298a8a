import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { agentModel, createModels } from "../../support/models.ts";
import { type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

/** Both nodes create runs and work on them. */
let nodes: GantryNode[];
let llm: ScriptedLlm;
let agent: string;

beforeAll(async () => {
  llm = await startScriptedLlm();
  const first = await startGantry();
  nodes = [first, await startGantry({ beside: first })];
  await createModels(first, { llm: agentModel(llm.url, { context_window: 200_000 }) });
  const json = { name: "Counter", goal: "Do {{n}}.", tools: [], model: "admin/llm" };
  agent = (await first.call("POST", "/v1/agents", { json })).body.id;
  expect((await first.call("POST", `/v1/agents/${agent}/publish`, { json: {} })).status).toBe(200);
}, 60_000);

afterAll(async () => {
  for (const node of nodes.toReversed()) await node.close();
  await llm.close();
});

test("turns that several nodes accept at once run one at a time, each after those before it", async () => {
  let open = 0;
  llm.script = async ({ messages }) => {
    expect(++open).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 5));
    open--;
    return { text: `did ${/Do (\d+)/.exec(messages.at(-1)?.content ?? "")?.[1]}` };
  };
  const made = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      nodes[n % 2]?.call("POST", `/v1/agents/${agent}/runs`, { json: { input: { n }, thread_id: "shared" } }),
    ),
  );
  const ids = made.map((answer) => answer?.body.id).sort();
  await waitFor("the runs to end", async () => {
    const { body } = (await nodes[0]?.call("GET", "/v1/threads/shared")) ?? {};
    return body.expires_at !== null;
  });
  const { turns, runs } = (await nodes[1]?.call("GET", "/v1/threads/shared"))?.body ?? {};
  expect(runs).toBe(12);
  expect(turns.map(({ run_id }: { run_id: string }) => run_id)).toEqual(ids);
  const order = turns.map(({ input }: { input: { n: number } }) => input.n);
  // Each was shown exactly the turns with smaller ids, in their order.
  expect(llm.requests).toHaveLength(12);
  for (const [at, { messages }] of llm.requests.entries()) {
    const earlier = messages.filter(({ role }) => role === "assistant").map(({ content }) => content);
    expect(earlier).toEqual(order.slice(0, at).map((n: number) => `did ${n}`));
    expect(messages.at(-1)?.content).toContain(`Do ${order[at]}.`);
  }
});

test("a clock that is behind does not move a turn before an earlier one", async () => {
  const { database } = nodes[0] as GantryNode;
  llm.script = () => ({ text: "done" });
  const post = (n: number) =>
    nodes[0]?.call("POST", `/v1/agents/${agent}/runs`, { json: { input: { n }, thread_id: "skewed", wait: 20 } });
  const first = (await post(1))?.body.id;
  // As if a node whose clock is an hour ahead had created it.
  const ahead = `run_${"z".repeat(10)}${first.slice(14)}`;
  await database.sql`update runs set id = ${ahead} where id = ${first}`;
  await database.sql`update threads set last_run_id = ${ahead} where id = 'skewed'`;
  const second = (await post(2))?.body;
  expect(second).toMatchObject({ status: "done" });
  expect(second.id > ahead).toBe(true);
  expect(llm.requests.at(-1)?.messages.slice(1, -1)).toMatchObject([{ role: "user" }, { role: "assistant" }]);
});

test("the end of a run without a worker starts the next one on another node at once", async () => {
  const [one, two] = nodes as [GantryNode, GantryNode];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  llm.script = async () => {
    await released;
    return { text: "done" };
  };
  const post = (n: number, wait = 0) =>
    one.call("POST", `/v1/agents/${agent}/runs`, { json: { input: { n }, thread_id: "passed", wait } });
  const first = (await post(1)).body.id;
  await waitFor("the call", () => llm.open === 1);
  const next = (await post(2)).body.id;
  await one.database.sql`update runs set parked = true, holder = null, claim = claim + 1 where id = ${first}`;
  const cancelled = await two.call("POST", `/v1/runs/${first}/cancel`, { json: {} });
  expect(cancelled.body.error.type).toBe("cancelled");
  await waitFor(
    "the next run to start",
    async () => (await one.call("GET", `/v1/runs/${next}`)).body.status !== "pending",
  );
  llm.script = () => ({ text: "done" });
  release();
  await waitFor("its end", async () => (await one.call("GET", `/v1/runs/${next}`)).body.status === "done");
});

test("a thread that gets a run in this moment is not deleted", async () => {
  const [one, two] = nodes as [GantryNode, GantryNode];
  llm.script = () => ({ text: "done" });
  const post = (n: number, wait = 0) =>
    one.call("POST", `/v1/agents/${agent}/runs`, { json: { input: { n }, thread_id: "busy", wait } });
  expect((await post(1, 20)).body.status).toBe("done");
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  llm.script = async () => {
    await released;
    return { text: "done" };
  };
  const waits = (query: string) =>
    waitFor(`${query} to wait`, async () => {
      const rows = await one.database.sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query ilike ${`%${query}%`}`;
      return rows.length > 0;
    });
  const [made, deleted] = await one.database.transaction(async (tx) => {
    // The new run has locked its thread, and waits here.
    await tx`lock table runs in share mode`;
    const created = post(2);
    await waits("insert into runs");
    const deletion = two.call("DELETE", "/v1/threads/busy");
    await waits("from threads t");
    return [{ created }, { deletion }] as const;
  });
  const { body } = await made.created;
  expect((await deleted.deletion).status).toBe(409);
  await waitFor("the call", () => llm.open === 1);
  release();
  await waitFor("its end", async () => (await one.call("GET", `/v1/runs/${body.id}`)).body.status === "done");
});
