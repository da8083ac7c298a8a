import { describe, expect, test } from "vitest";
import { type Seen, useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, type LlmRequest, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, start, ended, read } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);

const asking = { tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] };
const callOnce = (request: LlmRequest) =>
  toolResults(request).length === 0
    ? { calls: [{ name: "run_javascript", args: { code: "1" } }] }
    : { text: toolResults(request).join() };

async function inbox(key: string, query = ""): Promise<Seen> {
  const answer = await call("GET", `/v1/confirmations${query}`, { key });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}
const untilAsking = (runId: string, key: string) =>
  waitFor("the question", async () => (await read(runId, key)).phase === "awaiting_confirmation");
const reply = (entry: Seen, approve: boolean, key: string) =>
  call("POST", `/v1/runs/${entry.root_run_id}/confirmations/${entry.id}`, { json: { approve }, key });

describe("the confirmations of all runs", () => {
  test("are listed newest first, filtered by status and in pages, until they are answered", async () => {
    const { key } = await platform.newUser();
    const agent = await makeAgent({ name: "Careful", ...asking }, key);
    platform.llm.script = callOnce;
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      ids.unshift(await start(agent, {}, { key }));
      await untilAsking(ids[0] ?? "", key);
    }
    const all = await inbox(key, "?status=pending");
    expect(all).toMatchObject({ total: 3, limit: 20, offset: 0 });
    expect(all.confirmations.map(({ run_id }: Seen) => run_id)).toEqual(ids);
    expect(all.confirmations[0]).toEqual({
      id: expect.stringMatching(/^conf_/),
      run_id: ids[0],
      root_run_id: ids[0],
      agent: { id: agent, name: "Careful" },
      root_agent: { id: agent, name: "Careful" },
      tool: "run_javascript",
      arguments: { code: "1" },
      status: "pending",
      created_at: expect.any(String),
      expires_at: expect.any(String),
    });
    const page = await inbox(key, "?status=pending&limit=1&offset=1");
    expect(page).toMatchObject({ total: 3, limit: 1, offset: 1, confirmations: [{ run_id: ids[1] }] });
    expect((await call("GET", "/v1/runs?phase=awaiting_confirmation", { key })).body.total).toBe(3);
    expect((await reply(all.confirmations[0], true, key)).body).toMatchObject({ status: "approved" });
    await reply(all.confirmations[1], false, key);
    await call("POST", `/v1/runs/${ids[2]}/cancel`, { key });
    for (const id of ids) await ended(id, key);
    expect(await inbox(key, "?status=pending")).toMatchObject({ total: 0, confirmations: [] });
    for (const [n, status] of ["approved", "denied", "expired"].entries()) {
      expect(await inbox(key, `?status=${status}`)).toMatchObject({ total: 1, confirmations: [{ run_id: ids[n] }] });
    }
    expect(await inbox(key)).toMatchObject({ total: 3 });
    expect((await call("GET", "/v1/runs?phase=awaiting_confirmation", { key })).body.total).toBe(0);
  });

  test("name the sub-agent that asks, and the agent that was started", async () => {
    const { key } = await platform.newUser();
    const inner = await makeAgent({ name: "Inner", goal: "Inner.", ...asking }, key);
    const tools = [{ type: "agent", agent_id: inner, name: "inner" }];
    const outer = await makeAgent({ name: "Outer", goal: "Outer.", tools }, key);
    platform.llm.script = (request) => {
      if (toolResults(request).length > 0) return { text: "done" };
      return request.messages.some(({ content }) => content === "Inner.")
        ? callOnce(request)
        : { calls: [{ name: "inner", args: {} }] };
    };
    const id = await start(outer, {}, { key });
    await untilAsking(id, key);
    const [entry] = (await inbox(key, "?status=pending")).confirmations;
    expect(entry).toMatchObject({
      root_run_id: id,
      agent: { id: inner, name: "Inner" },
      root_agent: { id: outer, name: "Outer" },
    });
    expect(entry.run_id).not.toBe(id);
    await reply(entry, true, key);
    expect(await ended(id, key)).toMatchObject({ status: "done", agent_name: "Outer" });
  });

  test("belong to the caller of the run, not to the creator of the agent; a confined key sees its own", async () => {
    const [creator, caller] = [await platform.newUser(), await platform.newUser()];
    const agent = await makeAgent({ name: "Careful", visibility: "public", ...asking }, creator.key);
    platform.llm.script = callOnce;
    const models = [`agents/${creator.name}/careful`];
    const made = await call("POST", "/api/v2/keys", { key: caller.key, json: { name: "app", models } });
    expect(made.status, made.text).toBe(201);
    const app: string = made.body.key;
    const [theirs, ofApp] = [await start(agent, {}, caller), await start(agent, {}, { key: app })];
    await untilAsking(theirs, caller.key);
    await untilAsking(ofApp, app);
    expect((await inbox(caller.key)).total).toBe(2);
    expect(await inbox(app)).toMatchObject({ total: 1, confirmations: [{ run_id: ofApp }] });
    expect(await inbox(creator.key)).toMatchObject({ total: 0, confirmations: [] });
    for (const id of [theirs, ofApp]) await call("POST", `/v1/runs/${id}/cancel`, { key: caller.key });
    for (const id of [theirs, ofApp]) await ended(id, caller.key);
  });

  test("are left out if their run is deleted while they are read", async () => {
    const { key } = await platform.newUser();
    platform.llm.script = callOnce;
    const id = await start(await makeAgent({ name: "Careful", ...asking }, key), {}, { key });
    await untilAsking(id, key);
    await call("POST", `/v1/runs/${id}/cancel`, { key });
    await ended(id, key);
    const { reading } = await platform.gantry.database.transaction(async (tx) => {
      await tx`lock table agents in access exclusive mode`;
      const reading = call("GET", "/v1/confirmations", { key });
      await waitFor("the read of the agents", async () => {
        const [{ n } = { n: 0 }] = await tx<{ n: number }[]>`
          select count(*)::int as n from pg_locks where relation = 'agents'::regclass and not granted`;
        return n > 0;
      });
      await tx`delete from runs where id = ${id}`;
      return { reading };
    });
    const answer = await reading;
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.confirmations).toEqual([]);
  });

  test("refuse filters that do not exist", async () => {
    for (const query of ["?status=open", "?limit=0", "?limit=101", "?state=pending"]) {
      expect((await call("GET", `/v1/confirmations${query}`)).status, query).toBe(400);
    }
  });
});

describe("a list of runs", () => {
  test("is filtered by agent, part of the id and time", async () => {
    const { key } = await platform.newUser();
    platform.llm.script = inTurn({ text: "done" });
    const [one, other] = [await makeAgent({ name: "One" }, key), await makeAgent({ name: "Other" }, key)];
    const ids: string[] = [];
    for (const agent of [one, other, one]) ids.push((await platform.run(agent, {}, { key })).body.id);
    const list = async (query: string) => {
      const answer = await call("GET", `/v1/runs?${query}`, { key });
      expect(answer.status, answer.text).toBe(200);
      return answer.body.runs.map(({ id }: Seen) => id);
    };
    const [first = "", second = "", third = ""] = ids;
    expect(await list(`agent_id=${one}`)).toEqual([third, first]);
    expect(await list(`q=${second.slice(-12)}`)).toEqual([second]);
    expect(await list(`q=${second.slice(-12).toUpperCase()}`)).toEqual([second]);
    expect(await list("q=%25")).toEqual([]);
    const { created_at } = await read(second, key);
    expect(await list(`from_date=${created_at}`)).toContain(third);
    expect(await list(`from_date=${created_at}`)).not.toContain(first);
    expect(await list(`to_date=${created_at}&agent_id=${one}`)).toEqual([first]);
    const ofAgent = await call("GET", `/v1/agents/${one}/runs?q=${first.slice(-12)}`, { key });
    expect(ofAgent.body).toMatchObject({ total: 1, runs: [{ id: first, agent_name: "One" }] });
    for (const query of ["from_date=x", "from_date=2026-02-02T00:00:00&to_date=2026-01-01T00:00:00", "phase=x"]) {
      expect((await call("GET", `/v1/runs?${query}`, { key })).status, query).toBe(400);
    }
  });
});
