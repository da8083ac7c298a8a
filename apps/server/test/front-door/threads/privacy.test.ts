import { expect, test } from "vitest";
import { deleteOldRuns, deleteOldThreads } from "../../../src/features/runs/index.ts";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, run, start, read, ended } = platform;
const call = (method: string, path: string, key?: string) => platform.gantry.call(method, path, key ? { key } : {});
const listed = async (key?: string) =>
  (await call("GET", "/v1/threads?limit=100", key)).body.threads.map(({ id }: { id: string }) => id);

test("a confined key sees and uses only threads that it created", async () => {
  const agent = await makeAgent({ visibility: "public" });
  const json = { models: ["admin/llm"] };
  const key = (await platform.gantry.call("POST", "/api/v2/keys", { json })).body.key;
  await run(agent, { input: { thing: "secret" }, thread_id: "owners" });
  const mine = await run(agent, { input: { thing: "app" }, thread_id: "apps" }, { key });
  expect(mine.body, mine.text).toMatchObject({ status: "done", thread_id: "apps" });
  expect(await listed(key)).toEqual(["apps"]);
  expect(await listed()).toEqual(["apps", "owners"]);
  expect((await call("GET", "/v1/threads/owners", key)).status).toBe(404);
  expect((await call("DELETE", "/v1/threads/owners", key)).status).toBe(404);
  expect((await call("GET", "/v1/runs?thread_id=owners", key)).body).toMatchObject({ runs: [], total: 0 });
  const before = platform.llm.requests.length;
  const refused = await run(agent, { thread_id: "owners" }, { key });
  expect(refused.status, refused.text).toBe(409);
  expect(platform.llm.requests).toHaveLength(before);
  // The key would see the turn of another key.
  const owners = await run(agent, { input: { thing: "owner" }, thread_id: "apps" });
  expect([owners.status, owners.body.error?.message], owners.text).toEqual([
    409,
    expect.stringContaining("another key"),
  ]);
  const other = (await platform.gantry.call("POST", "/api/v2/keys", { json })).body.key;
  expect((await run(agent, { thread_id: "apps" }, { key: other })).status).toBe(409);
  expect((await run(agent, { thread_id: "apps" }, { key })).body.status).toBe("done");
  expect((await call("DELETE", "/v1/threads/apps", key)).status).toBe(204);
});

test("the thread of another user's agent belongs to the caller, and outlives the agent", async () => {
  const creator = await platform.newUser();
  const caller = await platform.newUser();
  const agent = await makeAgent({ name: "Seller", visibility: "public", pricing: { per_run: 0.01 } }, creator.key);
  const ask = (thing: string) => run(agent, { input: { thing }, thread_id: "bought" }, { key: caller.key });
  await ask("PRIVATE-1");
  const second = await ask("PRIVATE-2");
  expect(second.body, second.text).toMatchObject({ status: "done" });
  expect(platform.llm.requests.at(-1)?.messages[1]?.content).toContain("PRIVATE-1");
  expect(await listed(creator.key)).toEqual([]);
  expect((await call("GET", "/v1/threads/bought", creator.key)).status).toBe(404);
  const seen = await call("GET", `/v1/agents/${agent}/runs`, creator.key);
  expect(seen.body.total).toBe(2);
  expect(seen.text).not.toMatch(/PRIVATE|bought/);
  expect((await call("DELETE", `/v1/agents/${agent}`, creator.key)).status).toBe(204);
  const thread = await call("GET", "/v1/threads/bought", caller.key);
  expect(thread.body).toMatchObject({ agent_id: agent, agent_name: "Seller", title: "PRIVATE-1", runs: 2 });
  expect(thread.body.turns.map(({ input }: { input: unknown }) => input)).toEqual([
    { thing: "PRIVATE-1" },
    { thing: "PRIVATE-2" },
  ]);
  expect((await ask("PRIVATE-3")).status).toBe(404);
});

test("deleting a thread deletes its runs and what was said; a live run prevents it", async () => {
  const agent = await makeAgent({ tools: ["run_model"] });
  const held = gate();
  platform.llm.script = async () => {
    await held.promise;
    return { text: "FORGET-answer" };
  };
  const thread_id = "doomed";
  const running = await start(agent, { input: { thing: "FORGET-1" }, thread_id });
  await waitFor("the run to start", async () => (await read(running)).status === "running");
  const live = await call("DELETE", `/v1/threads/${thread_id}`);
  expect(live.status, live.text).toBe(409);
  held.open();
  await ended(running);
  const args = { model: "admin/llm", input: { prompt: "FORGET-prompt" } };
  const asking = { calls: [{ name: "run_model", args }] };
  platform.llm.script = inTurn(asking, { text: "FORGET-tool" }, { text: "FORGET-answer" });
  const more = await run(agent, { input: { thing: "FORGET-2" }, thread_id });
  const balance = (await call("GET", "/api/v2/me")).body.balance;
  expect((await call("DELETE", `/v1/threads/${thread_id}`)).status).toBe(204);
  for (const id of [running, more.body.id]) expect((await call("GET", `/v1/runs/${id}`)).status).toBe(404);
  expect((await call("GET", `/v1/threads/${thread_id}`)).status).toBe(404);
  expect((await call("DELETE", `/v1/threads/${thread_id}`)).status).toBe(404);
  expect((await call("GET", "/api/v2/me")).body.balance).toBe(balance);
  const { sql } = platform.gantry.database;
  for (const table of ["runs", "run_steps", "run_events", "ended_predictions", "responses", "threads"]) {
    const rows = await sql`select from ${sql(table)} t where t::text like '%FORGET%'`;
    expect(rows, table).toHaveLength(0);
  }
  // The same text then names a new thread.
  await run(agent, { input: { thing: "fresh" }, thread_id });
  expect(platform.llm.requests.at(-1)?.messages).toHaveLength(2);
});

test("a thread whose sub-agent still runs is not deleted, so that what it holds is released", async () => {
  const creator = await platform.newUser();
  const child = await makeAgent(
    { name: "Child", goal: "Child.", visibility: "public", pricing: { per_run: 0.01 } },
    creator.key,
  );
  const agent = await makeAgent({ goal: "Parent.", tools: [{ type: "agent", agent_id: child, name: "child" }] });
  const held = gate();
  platform.llm.script = async ({ messages }) => {
    if (!messages.some(({ content }) => content?.includes("Child."))) return { calls: [{ name: "child", args: {} }] };
    await held.promise;
    return { text: "late" };
  };
  const { sql } = platform.gantry.database;
  const parent = await start(agent, { thread_id: "held" });
  const runOfChild = async () => {
    const [row] = await sql<{ id: string; holder: string | null }[]>`
      select id, holder from runs where ancestors[1] = ${parent} and cardinality(ancestors) > 0`;
    return row;
  };
  await waitFor("the sub-agent", async () => (await runOfChild())?.holder != null && platform.llm.open === 1);
  const { id } = (await runOfChild()) ?? { id: "" };
  await sql`
    insert into nodes (id, heartbeat_at, runs_chats, runs_threads, runs_batches)
    values ('elsewhere', now() + interval '1 hour', true, true, true)`;
  await sql`update runs set holder = 'elsewhere', claim = claim + 1 where id = ${id}`;
  expect((await call("POST", `/v1/runs/${parent}/cancel`)).body.error.type).toBe("cancelled");
  const refused = await call("DELETE", "/v1/threads/held");
  expect(refused.status, refused.text).toBe(409);
  expect(await sql`select from runs where id = ${id}`).toHaveLength(1);

  await sql`delete from nodes where id = 'elsewhere'`;
  held.open();
  await waitFor("the end of the sub-agent", async () => (await call("DELETE", "/v1/threads/held")).status === 204);
  expect((await call("GET", "/api/v2/me")).body.reserved).toBe(0);
});

test("a thread expires as a whole after its last run; a live or younger one stays", async () => {
  const agent = await makeAgent();
  const { database } = platform.gantry;
  const days = (n: number) => new Date(Date.now() - n * 86_400_000);
  for (const thread_id of ["old", "young"]) for (let n = 0; n < 2; n++) await run(agent, { thread_id });
  const asking = await makeAgent({ tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] });
  platform.llm.script = () => ({ calls: [{ name: "run_javascript", args: { code: "1" } }] });
  const open = await start(asking, { thread_id: "asking" });
  await waitFor("the question", async () => (await read(open)).phase === "awaiting_confirmation");
  platform.llm.script = () => ({ text: "done" });
  const { sql } = database;
  await sql`update threads set updated_at = ${days(40)} where id in ('old', 'asking')`;
  await sql`update runs set completed_at = ${days(40)} where thread_id = 'old' and completed_at is not null`;
  for (let more = true; more; ) ({ more } = await deleteOldThreads(database, days(30)));
  const left = await listed();
  expect(left).toContain("young");
  expect(left).toContain("asking");
  expect(left).not.toContain("old");
  expect(await sql`select from runs where thread_id = 'old'`).toHaveLength(0);
  // Retention of single runs leaves the runs of a thread to the thread.
  const alone = await run(agent);
  await deleteOldRuns(database, days(-1));
  expect((await call("GET", `/v1/runs/${alone.body.id}`)).status).toBe(404);
  expect(await sql`select from runs where thread_id = 'young'`).toHaveLength(2);
  await call("POST", `/v1/runs/${open}/cancel`);
});
