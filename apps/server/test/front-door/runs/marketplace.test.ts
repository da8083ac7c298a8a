import { describe, expect, test } from "vitest";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, run, start, read, ended, events } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const asked = () => platform.llm.requests;
const balanceOf = async (key: string) => {
  const { body } = await call("GET", "/api/v2/me", { key });
  return { balance: body.balance, reserved: body.reserved };
};
const secret = "THE-SECRET-GOAL";
const market = { visibility: "public", goal: `${secret} {{thing}}`, pricing: { per_run: 0.25 } };

async function slugOf(agentId: string, key: string): Promise<string> {
  return (await call("GET", `/v1/agents/${agentId}`, { key })).body.slug;
}

describe("a marketplace run", () => {
  test("is charged to its caller: reserved, paid to the creator when done, in usage, ledger and expenses", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 1 });
    const agent = await makeAgent(market, creator.key);
    const slug = await slugOf(agent, creator.key);
    let whileRunning: Awaited<ReturnType<typeof balanceOf>> | undefined;
    let books: unknown;
    platform.llm.script = async () => {
      whileRunning = await balanceOf(caller.key);
      books = await verifyLedger(platform.gantry.database);
      return { text: "ok", usage: { in: 100, out: 190 } };
    };
    const path = `/v1/agents/${creator.name}/${slug}/runs`;
    const answer = await call("POST", path, { key: caller.key, json: { input: { thing: "it" }, wait: 20 } });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body).toMatchObject({ status: "done", agent_id: agent, cost: 0.252 });
    expect(books).toEqual([]);
    expect(whileRunning?.balance).toBe(1);
    expect(whileRunning?.reserved).toBeGreaterThanOrEqual(0.25);
    expect(await balanceOf(caller.key)).toEqual({ balance: 0.748, reserved: 0 });
    expect(await balanceOf(creator.key)).toEqual({ balance: 0.25, reserved: 0 });

    const { results } = (await call("GET", "/api/v2/usage", { key: caller.key })).body;
    expect(results).toHaveLength(2);
    const sale = results.find((row: { price: number }) => row.price === 0.25);
    expect(sale).toMatchObject({
      request_id: answer.body.id,
      model_name: `agents/${creator.name}/${slug}`,
      route: "agent",
      status: 200,
    });
    const expenses = (await call("GET", `/${caller.name}/expenses/`, { key: caller.key })).body;
    const spent = JSON.stringify(expenses);
    expect(spent).toContain(`agents/${creator.name}/${slug}`);
    expect(spent).toContain("0.252");
    expect((await call("GET", "/api/v2/usage", { key: creator.key })).body.results).toEqual([]);

    const paid = (await call("GET", "/api/v2/ledger", { key: caller.key })).body.results;
    const sold = { kind: "sale", reference: answer.body.id, reason: null };
    expect(paid).toHaveLength(3);
    expect(paid).toContainEqual(expect.objectContaining({ ...sold, amount: -0.25 }));
    const earned = await call("GET", "/api/v2/ledger", { key: creator.key });
    expect(earned.body).toMatchObject({ results: [{ ...sold, amount: 0.25 }], total_count: 1 });
    expect(earned.text).not.toContain(caller.name);
    expect(earned.text).not.toContain("usr_");
  });

  test("by the agent's id costs the same, and nothing for its creator", async () => {
    const creator = await platform.newUser({ credit: 1 });
    const caller = await platform.newUser({ credit: 1 });
    const agent = await makeAgent(market, creator.key);
    expect((await run(agent, {}, caller)).body.cost).toBeCloseTo(0.2502, 6);
    expect((await run(agent, {}, creator)).body.cost).toBeCloseTo(0.0002, 6);
    expect((await balanceOf(creator.key)).balance).toBeCloseTo(1.2498, 6);
  });

  test("that fails or is cancelled refunds the price", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 1 });
    const agent = await makeAgent(market, creator.key);
    platform.llm.script = () => ({ status: 400 });
    expect((await run(agent, {}, caller)).body).toMatchObject({ status: "error", cost: 0 });
    expect(await balanceOf(caller.key)).toEqual({ balance: 1, reserved: 0 });
    platform.llm.script = () => new Promise(() => {});
    const id = await start(agent, {}, caller);
    await waitFor("the model to be called", () => platform.llm.open === 1);
    expect((await call("POST", `/v1/runs/${id}/cancel`, creator)).status).toBe(404);
    await call("POST", `/v1/runs/${id}/cancel`, caller);
    const { balance, reserved } = await balanceOf(caller.key);
    expect(reserved).toBe(0);
    // Tokens of a stopped call are charged, the agent is not.
    expect(balance).toBeGreaterThan(0.99);
    expect((await balanceOf(creator.key)).balance).toBe(0);
  });

  test("never takes the wallet below zero, however many start at once", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 0.3 });
    await platform.makeModel("gratis", { pricing: {} });
    const agent = await makeAgent({ ...market, model: "admin/gratis" }, creator.key);
    const answers = await Promise.all(Array.from({ length: 8 }, () => run(agent, {}, caller)));
    const accepted = answers.filter(({ status }) => status === 201);
    expect(accepted).toHaveLength(1);
    for (const { status, body } of answers) if (status !== 201) expect(body.error.type).toBe("insufficient_funds");
    expect((await balanceOf(caller.key)).balance).toBeCloseTo(0.05, 6);
    expect((await balanceOf(creator.key)).balance).toBeCloseTo(0.25, 6);
    expect((await run(agent, {}, caller)).status).toBe(403);
  });

  test("counts against the key's month", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 10, key: { monthly_limit: 0.4 } });
    const agent = await makeAgent({ ...market, model: "admin/gratis" }, creator.key);
    let books: unknown;
    platform.llm.script = async () => {
      books = await verifyLedger(platform.gantry.database);
      return { text: "ok" };
    };
    expect((await run(agent, {}, caller)).body.status).toBe("done");
    expect(books).toEqual([]);
    // A second one would exceed it.
    expect((await run(agent, {}, caller)).body.error.type).toBe("insufficient_funds");
  });

  test("its price counts in max_cost", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 10 });
    const agent = await makeAgent({ ...market, tools: ["run_javascript"] }, creator.key);
    const refused = await run(agent, { max_cost: 0.2 }, caller);
    expect(refused.status).toBe(400);
    expect(refused.body.error.details[0].loc).toEqual(["body", "max_cost"]);
    let n = 0;
    platform.llm.script = (request) => ({
      calls: [{ name: "run_javascript", args: { code: `${n++}` } }],
      usage: { in: Math.ceil(JSON.stringify(request).length / 4), out: Math.min(100, request.max_tokens ?? 100) },
    });
    const answer = await run(agent, { max_cost: 0.26 }, caller);
    expect(answer.body).toMatchObject({ status: "error", error: { type: "limit_exceeded" } });
    expect(answer.body.cost).toBeLessThanOrEqual(0.01);
    expect(answer.body.cost).toBeGreaterThan(0.004);
  });

  test("has the price of its acceptance", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 1 });
    const agent = await makeAgent({ ...market, model: "admin/gratis" }, creator.key);
    let dearer = async () => {
      await call("PATCH", `/v1/agents/${agent}`, { json: { pricing: { per_run: 0.5 } }, key: creator.key });
      await call("POST", `/v1/agents/${agent}/publish`, { json: {}, key: creator.key });
    };
    platform.llm.script = async () => {
      await dearer();
      dearer = async () => {};
      return { text: "ok" };
    };
    expect((await run(agent, {}, caller)).body.cost).toBe(0.25);
    expect((await run(agent, {}, caller)).body.cost).toBe(0.5);
  });

  test("an idempotent repeat is charged once", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 1 });
    const agent = await makeAgent({ ...market, model: "admin/gratis" }, creator.key);
    const slug = await slugOf(agent, creator.key);
    const headers = { "idempotency-key": "one" };
    const json = { input: {}, wait: 20 };
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => run(agent, {}, { key: caller.key, headers })),
      ...Array.from({ length: 4 }, () =>
        call("POST", `/v1/agents/${creator.name}/${slug}/runs`, { key: caller.key, headers, json }),
      ),
    ]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect((await balanceOf(caller.key)).balance).toBe(0.75);
  });

  test("unknown creators and slugs, private and unpublished agents are not found", async () => {
    const creator = await platform.newUser();
    const caller = await platform.newUser();
    const hidden = await slugOf(await makeAgent({ ...market, visibility: "private" }, creator.key), creator.key);
    for (const path of [`${creator.name}/${hidden}`, `${creator.name}/nothing`, "unknown/x"]) {
      const answer = await call("POST", `/v1/agents/${path}/runs`, { key: caller.key, json: { input: {} } });
      expect(answer.status, path).toBe(404);
    }
    const own = await call("POST", `/v1/agents/${creator.name}/${hidden}/runs`, {
      ...creator,
      json: { input: {}, wait: 20 },
    });
    expect(own.body.status).toBe("done");
  });
});

describe("privacy", () => {
  test("the creator sees the run and its earnings; the caller does not see the goal", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 1 });
    const instructions = { tool_calling: `${secret}-2`, planning: `${secret}-3` };
    const agent = await makeAgent({ ...market, instructions }, creator.key);
    platform.llm.script = () => ({ text: "for the caller alone" });
    const { body } = await run(agent, { input: { thing: "private matter" } }, caller);
    expect(body.status).toBe("done");
    const seen = await read(body.id, creator.key);
    expect(seen).toEqual({
      id: body.id,
      agent_id: agent,
      agent_name: expect.any(String),
      revision_id: expect.any(String),
      status: "done",
      phase: "ended",
      parent_run_id: null,
      duration_ms: expect.any(Number),
      worked_ms: expect.any(Number),
      waited_ms: expect.any(Number),
      earned: 0.25,
      created_at: expect.any(String),
      completed_at: expect.any(String),
    });
    const list = (await call("GET", `/v1/agents/${agent}/runs`, creator)).body;
    expect(list).toMatchObject({ total: 1 });
    expect(JSON.stringify(list)).not.toContain("private matter");
    expect(JSON.stringify(list)).not.toContain("caller alone");
    for (const path of ["/events", "/events/list", "/confirmations", "/trace"]) {
      expect((await call("GET", `/v1/runs/${body.id}${path}`, creator)).status, path).toBe(404);
    }
    const shown = JSON.stringify([
      body,
      await events(body.id, caller.key),
      (await call("GET", `/v1/agents/${agent}`, caller)).body,
      (await call("GET", `/v1/agents/${agent}/runs`, caller)).body,
      (await call("GET", "/v1/runs", caller)).body,
    ]);
    expect(shown).not.toContain(secret);
    const stranger = await platform.newUser();
    expect((await call("GET", `/v1/runs/${body.id}`, stranger)).status).toBe(404);
    expect((await call("GET", `/v1/agents/${agent}/runs`, stranger)).body).toMatchObject({ total: 0 });
  });

  test("the creator of one run does not see which of the caller's runs belong together", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 1 });
    const child = await makeAgent({ ...market, goal: "Child.", pricing: { per_run: 0 } }, creator.key);
    const tools = [{ type: "agent", agent_id: child, name: "expert" }];
    const parent = await makeAgent({ goal: "Parent.", tools }, caller.key);
    platform.llm.script = (request) =>
      request.messages[1]?.content?.startsWith("Parent.") && toolResults(request).length === 0
        ? { calls: [{ name: "expert", args: {} }] }
        : { text: "ok" };
    const { body } = await run(parent, {}, caller);
    const [below] = (await call("GET", `/v1/runs?parent_run_id=${body.id}`, caller)).body.runs;
    expect(below).toMatchObject({ agent_id: child, parent_run_id: body.id });
    expect((await read(below.id, creator.key)).parent_run_id).toBeNull();
    expect((await call("GET", `/v1/agents/${child}/runs`, creator)).text).not.toContain(body.id);
  });

  test("a value fixed by the creator is hidden from the caller in calls and results", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 1 });
    const fixed = { model: `${creator.name}/hidden-model` };
    const tools = [{ type: "tool", id: "run_model", arguments: fixed }];
    const agent = await makeAgent({ ...market, tools }, creator.key);
    const failing = { calls: [{ name: "run_model", args: { input: { prompt: "x" } } }] };
    platform.llm.script = inTurn(failing, { text: "done" });
    const { body } = await run(agent, {}, caller);
    expect(body.status).toBe("done");
    const told = await events(body.id, caller.key);
    expect(told.find(({ type }) => type === "tool_call").arguments.model).toBe("[fixed]");
    expect(told.find(({ type }) => type === "tool_result").result).toBe("Project not found");
    platform.llm.script = () => failing;
    const hopeless = await run(agent, {}, caller);
    expect(hopeless.body.error).toMatchObject({ type: "tool_error" });
    expect(JSON.stringify([told, hopeless.body])).not.toContain("hidden-model");
  });

  test("a failed run of another user earns nothing and hides its cause from the creator", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 1 });
    const agent = await makeAgent(market, creator.key);
    platform.llm.script = () => ({ status: 400 });
    const { body } = await run(agent, {}, caller);
    const seen = await read(body.id, creator.key);
    expect(seen).toMatchObject({ status: "error", earned: 0 });
    expect(seen).not.toHaveProperty("error");
    expect(seen).not.toHaveProperty("usage");
  });

  test("only the creator learns which of their servers is unreachable", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 1 });
    const server = await call("POST", "/v1/mcp-servers", {
      key: creator.key,
      json: { name: "inner-crm", url: "http://127.0.0.1:9/mcp", connection_type: "streamable_http" },
    });
    expect(server.status, server.text).toBe(201);
    const agent = await makeAgent({ ...market, mcp_servers: [{ id: server.body.id }] }, creator.key);
    const theirs = await run(agent, {}, caller);
    expect(theirs.body.status).toBe("done");
    const shown = JSON.stringify(await events(theirs.body.id, caller.key));
    expect(shown).toContain("Not available");
    expect(shown).not.toContain("inner-crm");
    const own = await run(agent, {}, creator);
    expect(JSON.stringify(await events(own.body.id, creator.key))).toContain("inner-crm");
  });

  test("the creator's drives are read-only, and the caller's connector needs the caller's permission", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 1 });
    const drive = (await call("POST", "/v1/drives", { key: creator.key, json: { name: "notes" } })).body.id;
    const form = { path: "/a.txt", file: new File(["the note"], "a.txt", { type: "text/plain" }) };
    expect((await call("POST", `/v1/drives/${drive}/files`, { key: creator.key, form })).status).toBe(201);
    const tools = ["drive_read", "drive_write", "idp_users_list"];
    const agent = await makeAgent({ ...market, tools, drives: [drive] }, creator.key);
    const script = () =>
      inTurn(
        {
          calls: [
            { name: "drive_read", args: { path: "/a.txt" } },
            { name: "drive_write", args: { path: "/a.txt", content: "overwritten" } },
            { name: "idp_users_list", args: {} },
          ],
        },
        { text: "ok" },
      );
    platform.llm.script = script();
    expect((await run(agent, {}, caller)).body.status).toBe("done");
    const [note, written, users] = toolResults(asked().at(-1));
    expect(note).toContain("the note");
    expect(written).toContain("Only the creator");
    expect(users).toContain("connectors");
    platform.llm.script = script();
    await run(agent, { connectors: ["idp"] }, caller);
    expect(toolResults(asked().at(-1))[2]).not.toContain("connectors:");
    expect((await call("GET", `/v1/drives/${drive}/files/a.txt`, creator)).text).toBe("the note");
  });
});

describe("a paid sub-agent", () => {
  test("is charged to the caller of the root, and counts in its limit", async () => {
    const expert = await platform.newUser({ credit: 0 });
    const reseller = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 2 });
    const child = await makeAgent({ ...market, goal: "Child.", model: "admin/gratis" }, expert.key);
    const binding = { type: "agent", agent_id: child, name: "expert" };
    const parent = await makeAgent(
      { ...market, goal: "Parent.", model: "admin/gratis", tools: [binding], pricing: { per_run: 0.1 } },
      reseller.key,
    );
    platform.llm.script = (request) =>
      request.messages[1]?.content?.startsWith("Parent.") && toolResults(request).length === 0
        ? { calls: [{ name: "expert", args: {} }] }
        : { text: "ok" };
    const answer = await run(parent, {}, caller);
    expect(answer.body, answer.text).toMatchObject({ status: "done", cost: 0.35 });
    expect((await balanceOf(caller.key)).balance).toBeCloseTo(1.65, 6);
    expect((await balanceOf(reseller.key)).balance).toBeCloseTo(0.1, 6);
    expect((await balanceOf(expert.key)).balance).toBeCloseTo(0.25, 6);
    const { runs } = (await call("GET", `/v1/runs?parent_run_id=${answer.body.id}`, caller)).body;
    expect(runs[0]).toMatchObject({ cost: 0.25, agent_id: child });
    expect((await read(runs[0].id, expert.key)).earned).toBe(0.25);

    const limited = await run(parent, { max_cost: 0.3 }, caller);
    expect(limited.body).toMatchObject({ status: "error", error: { type: "limit_exceeded" }, cost: 0 });
    const enough = await run(parent, { max_cost: 0.35 }, caller);
    expect(enough.body).toMatchObject({ status: "done", cost: 0.35 });
  });

  test("that is done is charged although its parent fails", async () => {
    const expert = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 2 });
    const child = await makeAgent({ ...market, goal: "Child.", model: "admin/gratis" }, expert.key);
    const tools = [{ type: "agent", agent_id: child, name: "expert" }];
    const parent = await makeAgent({ goal: "Parent.", model: "admin/gratis", tools }, caller.key);
    platform.llm.script = (request) => {
      if (!request.messages[1]?.content?.startsWith("Parent.")) return { text: "ok" };
      return toolResults(request).length === 0 ? { calls: [{ name: "expert", args: {} }] } : { status: 400 };
    };
    const answer = await run(parent, {}, caller);
    expect(answer.body).toMatchObject({ status: "error", error: { type: "internal" }, cost: 0.25 });
    expect((await balanceOf(expert.key)).balance).toBe(0.25);
  });

  test("without funds ends the run as insufficient_funds", async () => {
    const expert = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 0.1 });
    const child = await makeAgent({ ...market, goal: "Child.", model: "admin/gratis" }, expert.key);
    const tools = [{ type: "agent", agent_id: child, name: "expert" }];
    const parent = await makeAgent({ goal: "Parent.", model: "admin/gratis", tools }, caller.key);
    platform.llm.script = (request) =>
      request.messages[1]?.content?.startsWith("Parent.") && toolResults(request).length < 3
        ? { calls: [{ name: "expert", args: {} }] }
        : { text: "ok" };
    const id = await start(parent, {}, caller);
    expect(await ended(id, caller.key)).toMatchObject({ status: "error", error: { type: "insufficient_funds" } });
    expect((await balanceOf(caller.key)).reserved).toBe(0);
  });
});
