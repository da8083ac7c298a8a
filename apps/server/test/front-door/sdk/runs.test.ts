import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, type GantryClient, type RunEvent } from "../../../../../packages/sdk/src/index.ts";
import { type CuttableLine, startCuttableLine } from "../../../../../packages/sdk/test/cuttable-line.ts";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { type LlmRequest, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
let client: GantryClient;
let shaky: GantryClient;
let line: CuttableLine;

beforeAll(async () => {
  line = await startCuttableLine(platform.gantry.url);
  client = createClient({ url: platform.gantry.url, key: platform.gantry.adminKey });
  shaky = createClient({ url: line.url, key: platform.gantry.adminKey });
});
afterAll(() => line.close());

const fields = { goal: "Do it.", model: "admin/llm" };
const js = (code: string) => ({ name: "run_javascript", args: { code } });
const asking = { type: "tool", id: "run_javascript", confirm: "always" } as const;
const callOnce = (request: LlmRequest) =>
  toolResults(request).length === 0 ? { calls: [js("6 * 7")] } : { text: `heard: ${toolResults(request)}` };
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => Promise.reject(new Error("it did not fail")),
    (error) => error,
  );

async function published(tools: Parameters<GantryClient["agents"]["create"]>[0]["tools"] = []): Promise<string> {
  const { id } = await client.agents.create({ ...fields, name: `Agent ${Math.random()}`, tools });
  await client.agents.publish(id);
  return id;
}

describe("agents", () => {
  test("are created, read, changed, published, listed and deleted", async () => {
    const made = await client.agents.create({ ...fields, name: "Clerk", tools: ["run_javascript"] });
    expect(made).toMatchObject({ name: "Clerk", status: "unpublished", visibility: "private" });
    expect(await client.agents.get(made.id)).toMatchObject({ id: made.id, goal: "Do it.", tools: ["run_javascript"] });
    const changed = await client.agents.update(made.id, { goal: "Do it well." });
    expect(changed.latest_revision_id).not.toBe(made.revision_id);
    const first = await client.agents.publish(made.id, { revision_id: made.revision_id });
    expect(first).toMatchObject({ status: "published", published_revision_id: made.revision_id });
    const latest = await client.agents.publish(made.id);
    expect(latest.published_revision_id).toBe(changed.latest_revision_id);
    const { agents, total, limit } = await client.agents.list({ limit: 1, visibility: "private" });
    expect([agents.length, agents[0]?.id, limit]).toEqual([1, made.id, 1]);
    expect(total).toBeGreaterThanOrEqual(1);
    expect((await Array.fromAsync(client.agents.each(), ({ id }) => id))[0]).toBe(made.id);
    expect(await client.agents.delete(made.id)).toBeUndefined();
    expect(await failureOf(client.agents.get(made.id))).toMatchObject({ status: 404, type: "not_found" });
  });
});

describe("revisions and tools", () => {
  test("of an agent are listed, read and compared, by its owner", async () => {
    const made = await client.agents.create({ ...fields, name: "Historian", tools: ["run_javascript"] });
    const { latest_revision_id: second } = await client.agents.update(made.id, { goal: "Do it well." });
    const change = { tools: ["http_request"], goal: "Do it best." };
    const { latest_revision_id: third } = await client.agents.update(made.id, change);
    await client.agents.publish(made.id, { revision_id: second });
    const list = await client.agents.revisions.list(made.id, { limit: 2 });
    expect(list).toMatchObject({ total: 3, limit: 2, offset: 0 });
    expect(list.revisions).toEqual([
      { id: third, number: 3, status: "draft", created_at: expect.any(String) },
      { id: second, number: 2, status: "published", created_at: expect.any(String) },
    ]);
    expect(await client.agents.revisions.get(made.id, second)).toMatchObject({
      id: second,
      agent_id: made.id,
      goal: "Do it well.",
      tools: ["run_javascript"],
    });
    const tools = { added: ["http_request"], removed: ["run_javascript"] };
    expect(await client.agents.revisions.diff(made.id, third)).toEqual({
      changes: { goal: { old: "Do it well.", new: "Do it best." }, tools },
    });
    const whole = await client.agents.revisions.diff(made.id, third, { against: made.revision_id });
    expect(whole).toEqual({ changes: { goal: { old: "Do it.", new: "Do it best." }, tools } });
    const { key } = await platform.newUser();
    const { revisions } = createClient({ url: platform.gantry.url, key }).agents;
    for (const call of [
      () => revisions.list(made.id),
      () => revisions.get(made.id, second),
      () => revisions.diff(made.id, second),
      () => client.agents.revisions.get(made.id, "rev_none"),
    ]) {
      expect(await failureOf(call())).toMatchObject({ status: 404, type: "not_found" });
    }
    const wrong = client.agents.revisions.list(made.id, { limit: 0 });
    expect(await failureOf(wrong)).toMatchObject({ status: 400, issues: [{ loc: ["query", "limit"] }] });
  });

  test("that an agent can use are listed", async () => {
    const tools = await client.agents.tools();
    expect(tools.find(({ id }) => id === "run_javascript")).toEqual({
      id: "run_javascript",
      description: expect.any(String),
      parameters: expect.objectContaining({ type: "object" }),
      kind: expect.stringMatching(/^(read|write)$/),
    });
  });
});

describe("runs", () => {
  test("are created once per Idempotency-Key, awaited, read and listed", async () => {
    const agent = await published();
    const body = { input: { thing: "x" }, wait: 20 };
    const run = await client.runs.create(agent, body, { idempotencyKey: "one" });
    expect(run).toMatchObject({ status: "done", output: { text: "done" }, input: { thing: "x" } });
    expect((await client.runs.create(agent, body, { idempotencyKey: "one" })).id).toBe(run.id);
    const other = await client.runs.create(agent, { input: {} });
    expect(other.id).not.toBe(run.id);
    expect((await client.runs.waitFor(other.id)).status).toBe("done");
    expect(await client.runs.get(run.id, { wait: 1 })).toEqual(run);
    const { runs } = await client.runs.list({ agent_id: agent, status: "done" });
    expect(runs.map(({ id }) => id)).toEqual([other.id, run.id]);
    expect((await client.runs.list({ limit: 1 })).runs[0]?.id).toBe(other.id);
    const each = await Array.fromAsync(client.runs.each({ agent_id: agent }), ({ id }) => id);
    expect(each).toEqual([other.id, run.id]);
  });

  test("of another user's agent are created by creator and slug", async () => {
    const { id, slug } = await client.agents.create({ ...fields, name: "Shop", tools: [], visibility: "public" });
    await client.agents.publish(id);
    const { key } = await platform.newUser();
    const customer = createClient({ url: platform.gantry.url, key });
    expect(await customer.runs.create(`admin/${slug}`, { input: {}, wait: 20 })).toMatchObject({ status: "done" });
    expect(await customer.agents.get(id)).not.toHaveProperty("goal");
  });

  test("are started once when the answer is lost", async () => {
    let calls = 0;
    const forgetful: typeof fetch = async (...args) => {
      const response = await fetch(...args);
      if (++calls === 1) throw new TypeError("fetch failed");
      return response;
    };
    const other = createClient({ url: platform.gantry.url, key: platform.gantry.adminKey, fetch: forgetful });
    const agent = await published();
    const { id } = await other.runs.create(agent, { input: {} });
    expect(calls).toBe(2);
    expect((await client.runs.list({ agent_id: agent })).runs.map((run) => run.id)).toEqual([id]);
    await client.runs.waitFor(id);
  });

  test("that are cancelled stop the upstream call", async () => {
    platform.llm.script = () => ({ text: "I", hangs: true });
    const { id } = await client.runs.create(await published(), { input: {} });
    await waitFor("the upstream call", () => platform.llm.open === 1);
    expect(await client.runs.cancel(id)).toMatchObject({ status: "error", error: { type: "cancelled" } });
    await waitFor("its end", () => platform.llm.open === 0);
    expect((await client.runs.waitFor(id)).status).toBe("error");
    expect((await Array.fromAsync(client.runs.events(id))).at(-1)).toMatchObject({
      type: "error",
      data: { type: "cancelled" },
    });
  });
});

describe("the events of a run", () => {
  test("arrive once and in order over an unreliable connection", async () => {
    const gates = [gate(), gate(), gate()];
    platform.llm.script = async (request) => {
      const told = toolResults(request).length;
      await gates[told - 1]?.promise;
      return told < 3 ? { text: `turn ${told}`, calls: [js(`${told}`)] } : { text: "end" };
    };
    const { id } = await client.runs.create(await published(["run_javascript"]), { input: {} });
    const seen: RunEvent[] = [];
    const resumedAfter: number[] = [];
    const noting: typeof fetch = (input, init) => {
      resumedAfter.push(Number(new Headers(init?.headers).get("last-event-id")));
      return fetch(input, init);
    };
    const over = createClient({ url: line.url, key: platform.gantry.adminKey, fetch: noting });
    const following = (async () => {
      for await (const event of over.runs.events(id)) seen.push(event);
    })();
    for (const [turn, next] of gates.entries()) {
      await waitFor(`turn ${turn}`, () => seen.filter(({ type }) => type === "tool_result").length === turn + 1);
      const before = line.connections;
      line.cut();
      // Once while the connection is cut, once after the resume.
      if (turn === 1) await waitFor("the new connection", () => line.connections > before);
      next.open();
    }
    await following;
    const turn = ["reasoning", "tool_call", "tool_result"];
    expect(seen.map(({ type }) => type)).toEqual(["planning", ...turn, ...turn, ...turn, "completed"]);
    expect(seen.map((event) => event.id)).toEqual(seen.map((_, n) => n + 1));
    expect(seen.at(-1)?.data).toEqual({ output: { text: "end" } });
    // The client requests only events after the last one received.
    expect(resumedAfter).toEqual([0, 4, 7, 10]);
    const rest = await Array.fromAsync(client.runs.events(id, { after: 9 }));
    expect(rest.map((event) => event.id)).toEqual([10, 11]);
    expect(await Array.fromAsync(client.runs.events(id, { after: 11 }))).toEqual([]);
  });

  test("fail when the connection stays down, and at once for an unknown run", async () => {
    platform.llm.script = () => ({ text: "I", hangs: true });
    const { id } = await client.runs.create(await published(), { input: {} });
    const events = shaky.runs.events(id, { tries: 2 });
    await events.next();
    const before = line.connections;
    line.isDown = true;
    line.cut();
    try {
      expect(await failureOf(events.next())).toMatchObject({ type: "connection_error", retryable: true });
      expect(line.connections).toBe(before + 2);
    } finally {
      line.isDown = false;
    }
    await client.runs.cancel(id);
    expect(await failureOf(client.runs.events("run_none").next())).toMatchObject({ status: 404, type: "not_found" });
  });

  test("can be aborted, which does not stop the run", async () => {
    const held = gate();
    platform.llm.script = async () => {
      await held.promise;
      return { text: "on my own" };
    };
    const { id } = await client.runs.create(await published(), { input: {} });
    const leaving = new AbortController();
    const events = client.runs.events(id, { signal: leaving.signal });
    await events.next();
    const next = failureOf(events.next());
    leaving.abort();
    expect((await next).name).toBe("AbortError");
    held.open();
    expect(await client.runs.waitFor(id)).toMatchObject({ status: "done", output: { text: "on my own" } });
  });
});

describe("the list of events", () => {
  test("contains all events with times, or those after a given one", async () => {
    platform.llm.script = callOnce;
    const { id } = await client.runs.create(await published(["run_javascript"]), { input: {}, wait: 20 });
    const { events, ...more } = await client.runs.listEvents(id);
    expect(more).toEqual({});
    const timestamp = expect.stringMatching(/^20.*Z$/);
    const call_id = expect.any(String);
    expect(events).toEqual([
      { type: "planning", timestamp, message: expect.any(String) },
      { type: "tool_call", timestamp, tool: "run_javascript", arguments: { code: "6 * 7" }, call_id },
      { type: "tool_result", timestamp, tool: "run_javascript", result: "42", call_id },
      { type: "completed", timestamp, message: expect.any(String) },
    ]);
    expect((await client.runs.listEvents(id, { after: 3 })).events).toEqual(events.slice(3));
    platform.llm.script = () => ({ text: "I", hangs: true });
    const failed = await client.runs.create(await published(), { input: {} });
    await client.runs.cancel(failed.id);
    const last = (await client.runs.listEvents(failed.id)).events.at(-1);
    expect(last).toMatchObject({ type: "error", error: { type: "cancelled" } });
    const { key } = await platform.newUser();
    const other = createClient({ url: platform.gantry.url, key });
    expect(await failureOf(other.runs.listEvents(id))).toMatchObject({ status: 404 });
    expect(await failureOf(client.runs.listEvents(id, { after: -1 }))).toMatchObject({
      status: 400,
      issues: [{ loc: ["query", "after"] }],
    });
  });
});

describe("a confirmation of a run", () => {
  test("is approved while its events are followed", async () => {
    platform.llm.script = callOnce;
    const { id } = await client.runs.create(await published([asking]), { input: {} });
    const types: string[] = [];
    for await (const event of client.runs.events(id)) {
      types.push(event.type);
      if (event.type === "confirmation_required") {
        expect(event.data).toMatchObject({ tool: "run_javascript", arguments: { code: "6 * 7" } });
        const approved = await client.runs.confirmations.approve(id, event.data.confirmation_id);
        expect(approved.status).toBe("approved");
      }
      if (event.type === "confirmation_resolved") expect(event.data.approved).toBe(true);
    }
    expect(types.slice(1, 3)).toEqual(["confirmation_required", "confirmation_resolved"]);
    expect((await client.runs.get(id)).output).toEqual({ text: "heard: 42" });
  });

  test("is denied with a reason, once", async () => {
    platform.llm.script = callOnce;
    const { id } = await client.runs.create(await published([asking]), { input: {} });
    const waiting = client.runs.waitFor(id);
    await waitFor("the question", async () => (await client.runs.confirmations.list(id)).length === 1);
    const [question] = await client.runs.confirmations.list(id);
    expect(question).toMatchObject({ run_id: id, status: "pending" });
    const denied = await client.runs.confirmations.deny(id, question?.id ?? "", { reason: "Not on a Sunday" });
    expect(denied).toMatchObject({ status: "denied", reason: "Not on a Sunday" });
    const again = client.runs.confirmations.approve(id, question?.id ?? "");
    expect(await failureOf(again)).toMatchObject({ status: 409, type: "conflict", retryable: false });
    expect((await waiting).status).toBe("done");
  });
});
