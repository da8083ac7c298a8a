import { createClient } from "@gantry/sdk";
import { expect, test } from "vitest";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, type LlmRequest } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, run, start, ended, read } = platform;
const asked = () => platform.llm.requests;
const said = (request: LlmRequest | undefined) => (request?.messages ?? []).map(({ role, content }) => [role, content]);
const sdk = (key = platform.gantry.adminKey) => createClient({ url: platform.gantry.url, key });

test("a run gets the earlier turns as messages before the goal, which is rendered for its own input", async () => {
  const agent = await makeAgent({ goal: "Answer {{question}}." });
  platform.llm.script = inTurn({ text: "Rome" }, { text: '{"people": 2}' }, { text: "No" });
  const thread_id = "conversation:1.a";
  const first = await run(agent, { input: { question: "Capital of Italy?" }, thread_id });
  expect(first.body, first.text).toMatchObject({ status: "done", thread_id });
  await run(agent, { input: { question: "How many?", unit: "million" }, thread_id });
  await run(agent, { input: { question: "Is that all?" }, thread_id });
  const [system, ...messages] = said(asked()[2]);
  expect(system?.[1]).toContain("earlier turns");
  expect(messages).toEqual([
    ["user", "Earlier input:\nCapital of Italy?"],
    ["assistant", "Rome"],
    ["user", 'Earlier input:\n{"question":"How many?","unit":"million"}'],
    ["assistant", '{"people":2}'],
    ["user", 'Answer Is that all?.\n\nInput:\n{"question":"Is that all?"}'],
  ]);
  expect(said(asked()[0])).toHaveLength(2);
  const alone = await run(agent, { input: { question: "Alone?" } });
  expect(alone.body.thread_id).toBeUndefined();
  expect(said(asked()[3])).toHaveLength(2);

  const trace = await platform.gantry.call("GET", `/v1/runs/${(await sdk().threads.get(thread_id)).last_run_id}/trace`);
  const step = trace.body.steps.find(({ kind }: { kind: string }) => kind === "model");
  const detail = await platform.gantry.call("GET", `/v1/runs/${trace.body.run_id ?? step.run_id}/trace/${step.id}`);
  expect(detail.body.messages.slice(1)).toEqual(messages.map(([role, content]) => ({ role, content })));
});

test("a failed or cancelled turn is mentioned, and the next run starts", async () => {
  const agent = await makeAgent();
  platform.llm.script = () => ({ status: 400 });
  const thread_id = "failing";
  const failed = await run(agent, { input: { thing: "the first line\nand more" }, thread_id });
  expect(failed.body).toMatchObject({ status: "error", error: { type: "internal" } });
  const held = gate();
  platform.llm.script = async () => {
    await held.promise;
    return { text: "late" };
  };
  const running = await start(agent, { input: { thing: "second" }, thread_id });
  const waiting = await start(agent, { input: { thing: "third" }, thread_id });
  const last = await start(agent, { input: { thing: "fourth" }, thread_id });
  await waitFor("the run to start", async () => (await read(running)).status === "running");
  // The one that waits is cancelled without being claimed, then the running one.
  for (const id of [waiting, running]) {
    const cancelled = await platform.gantry.call("POST", `/v1/runs/${id}/cancel`, { json: {} });
    expect(cancelled.body.error.type).toBe("cancelled");
  }
  held.open();
  expect(await ended(last)).toMatchObject({ status: "done" });
  const messages = said(asked().at(-1));
  expect(messages.slice(1, -1)).toEqual([
    ["user", "Earlier input:\nthe first line"],
    ["assistant", "(No answer: the run failed.)"],
    ["user", "Earlier input:\nsecond"],
    ["assistant", "(No answer: the run was cancelled.)"],
    ["user", "Earlier input:\nthird"],
    ["assistant", "(No answer: the run was cancelled.)"],
  ]);
});

test("runs of a thread run one at a time in order; a confirmation holds the next one up", async () => {
  const agent = await makeAgent({ tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] });
  const order: string[] = [];
  let open = 0;
  platform.llm.script = async ({ messages }) => {
    expect(++open).toBe(1);
    const goal = messages.findLast(({ content }) => content?.startsWith("Do "))?.content ?? "";
    const isAsked = messages.some(({ role }) => role === "tool");
    if (!isAsked) order.push(goal.slice(0, 5));
    await new Promise((resolve) => setTimeout(resolve, 20));
    open--;
    if (goal.startsWith("Do 2") && !isAsked) return { calls: [{ name: "run_javascript", args: { code: "1" } }] };
    return { text: goal.slice(0, 4) };
  };
  const thread_id = "ordered";
  const ids: string[] = [];
  for (const thing of ["1", "2", "3", "4"]) ids.push(await start(agent, { input: { thing }, thread_id }));
  await waitFor("the question", async () => (await read(ids[1] ?? "")).phase === "awaiting_confirmation");
  const elsewhere = await run(agent, { input: { thing: "5" }, thread_id: "another" });
  expect(elsewhere.body.status).toBe("done");
  expect(await read(ids[2] ?? "")).toMatchObject({ status: "pending", thread_id });
  const { turns, ...thread } = await sdk().threads.get(thread_id);
  expect(thread).toMatchObject({
    runs: 4,
    last_run_id: ids[3],
    last_status: "pending",
    expires_at: null,
    has_more: false,
  });
  expect(turns.map(({ run_id, phase }) => [run_id, phase])).toEqual([
    [ids[0], "ended"],
    [ids[1], "awaiting_confirmation"],
    [ids[2], "queued"],
    [ids[3], "queued"],
  ]);
  const [question] = await sdk().runs.confirmations.list(ids[1] ?? "");
  await sdk().runs.confirmations.approve(ids[1] ?? "", question?.id ?? "");
  for (const id of ids) expect(await ended(id)).toMatchObject({ status: "done" });
  expect(order).toEqual(["Do 1.", "Do 2.", "Do 5.", "Do 3.", "Do 4."]);
  const { runs } = await sdk().runs.list({ thread_id });
  expect(runs.map(({ id }) => id)).toEqual(ids.toReversed());
});

test("a thread belongs to its caller and one agent; wrong ids and a full thread are refused", async () => {
  const [one, two] = [await makeAgent(), await makeAgent()];
  const thread_id = "bound";
  await run(one, { input: { thing: "a title\nnot this" }, thread_id });
  const other = await run(two, { thread_id });
  expect(other.status, other.text).toBe(409);
  expect(other.body.error).toMatchObject({ type: "conflict", message: expect.stringContaining("another agent") });
  for (const wrong of ["", ".a", "a b", "a/b", "x".repeat(101), 5]) {
    const refused = await run(one, { thread_id: wrong });
    expect(refused.status, String(wrong)).toBe(400);
    expect(refused.body.error.details[0].loc).toEqual(["body", "thread_id"]);
  }
  // The same text is another user's own thread.
  const bob = await platform.newUser();
  const mine = await makeAgent({}, bob.key);
  expect((await run(mine, { thread_id }, { key: bob.key })).status).toBe(201);
  const theirs = await sdk(bob.key).threads.get(thread_id);
  expect(theirs).toMatchObject({ agent_id: mine, runs: 1, title: "" });
  const own = await sdk().threads.list({ agent_id: one });
  expect(own).toMatchObject({ total: 1, threads: [{ id: thread_id, title: "a title", runs: 1, last_status: "done" }] });
  const { sql } = platform.gantry.database;
  const filled = await run(two, { input: { thing: "x" }, thread_id: "full" });
  await sql`
    insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, input, timeout_ms, max_steps, base_url, status,
      parked, thread_id, sequence)
    select 'run_0' || lpad(n::text, 25, '0'), agent_id, revision_id, owner_id, user_id, key_id, input, 1, 1, '', 'running',
      true, thread_id, sequence from runs, generate_series(1001, 1100) n where id = ${filled.body.id}`;
  const full = await run(two, { thread_id: "full" });
  expect(full.status, full.text).toBe(409);
  expect(full.body.error.message).toContain("100 runs");
  await sql`update threads set deleting = true where id = 'bound'`;
  const deleted = await run(one, { thread_id: "bound" });
  expect(deleted.body.error.message).toContain("is being deleted");
  // Schedules try both again.
  for (const { headers } of [full, deleted]) expect(headers.get("x-service-retryable")).toBe("true");
  await sql`delete from runs where thread_id = 'full' and parked`;
  expect(new Date(own.threads[0]?.expires_at ?? 0).getTime()).toBeGreaterThan(Date.now() + 29 * 86_400_000);
});

test("turns are paged back, and a repeat with an idempotency key adds no turn", async () => {
  const agent = await makeAgent();
  const thread_id = "paged";
  const { sql } = platform.gantry.database;
  const headers = { "idempotency-key": "only-once" };
  const first = await run(agent, { input: { thing: "0" }, thread_id }, { headers });
  const again = await run(agent, { input: { thing: "0" }, thread_id }, { headers });
  expect(again.body.id).toBe(first.body.id);
  await run(agent, { input: { thing: "1" }, thread_id });
  // Copies of the first run, as if there had been many.
  await sql`
    insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, input, timeout_ms, max_steps, base_url, status,
      phase, thread_id, completed_at)
    select 'run_0' || lpad(n::text, 25, '0'), agent_id, revision_id, owner_id, user_id, key_id,
      json_build_object('thing', n), 1, 1, '', 'done', 'ended', thread_id, now()
    from runs, generate_series(1, 150) n where id = ${first.body.id}`;
  const newest = await sdk().threads.get(thread_id);
  expect(newest).toMatchObject({ runs: 2, has_more: true });
  expect(newest.turns.map(({ input }) => input.thing).slice(-3)).toEqual([150, "0", "1"]);
  expect(newest.turns).toHaveLength(100);
  const older = await sdk().threads.get(thread_id, { before: newest.turns[0]?.run_id });
  expect(older).toMatchObject({ has_more: false });
  expect(older.turns.map(({ input }) => input.thing)).toEqual(Array.from({ length: 52 }, (_, n) => n + 1));
  const wrong = await platform.gantry.call("GET", `/v1/threads/${thread_id}?before=nothing`);
  expect(wrong.status).toBe(400);
});
