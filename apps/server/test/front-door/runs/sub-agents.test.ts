import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "@gantry/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { type LlmAnswer, type LlmRequest, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, run, start, ended, events, types } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const asked = () => platform.llm.requests;

type Play = (request: LlmRequest, results: string[]) => LlmAnswer | Promise<LlmAnswer>;

/** Every agent follows its own script, chosen by its goal. */
function parts(byGoal: Record<string, Play>): void {
  platform.llm.script = (request) => {
    const goal = request.messages[1]?.content ?? "";
    const [, play] = Object.entries(byGoal).find(([name]) => goal.startsWith(`${name}.`)) ?? [];
    if (!play) throw new Error(`no script for ${goal}`);
    return play(request, toolResults(request));
  };
}

const asTool = (agentId: string, name: string) => ({ type: "agent", agent_id: agentId, name });
const callAll =
  (...calls: { name: string; args?: object }[]): Play =>
  (_, results) =>
    results.length === 0
      ? { calls: calls.map(({ name, args = {} }) => ({ name, args })) }
      : { text: `heard: ${results.join(" | ")}` };
const childrenOf = async (runId: string, key?: string) =>
  (await call("GET", `/v1/runs?parent_run_id=${runId}`, key === undefined ? {} : { key })).body.runs;

describe("an agent as a tool", () => {
  test("gets its own run: visible, counted and charged with its parent's", async () => {
    const child = await makeAgent({
      goal: "Child. {{city}}",
      input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    });
    const parent = await makeAgent({ goal: "Parent.", tools: [asTool(child, "weather")] });
    parts({
      Parent: callAll({ name: "weather", args: { city: "Oslo" } }),
      Child: () => ({ text: '{"degrees": 7}', usage: { in: 120, out: 100 } }),
    });
    const answer = await run(parent);
    expect(answer.body, answer.text).toMatchObject({ status: "done" });
    expect(answer.body.output.text).toContain('"degrees":7');
    // Two calls of the parent with 100 and 10 tokens each, and one of the child.
    expect(answer.body.usage).toEqual({
      input_tokens: 320,
      output_tokens: 120,
      cached_tokens: 0,
      cache_write_tokens: 0,
    });
    expect(answer.body.cost).toBeCloseTo(0.00152, 6);
    const [made] = await childrenOf(answer.body.id);
    expect(made).toMatchObject({
      agent_id: child,
      parent_run_id: answer.body.id,
      status: "done",
      input: { city: "Oslo" },
      output: { degrees: 7 },
      usage: { input_tokens: 120, output_tokens: 100 },
      cost: 0.00112,
    });
    expect(await types(answer.body.id)).toEqual(["planning", "tool_call", "tool_result", "completed"]);
    expect(await types(made.id)).toEqual(["planning", "completed"]);
    // Roots and descendants are separate lists; filtering by agent finds both.
    expect((await call("GET", `/v1/agents/${child}/runs`)).body.total).toBe(1);
    const roots = (await call("GET", "/v1/runs?limit=100")).body.runs;
    expect(roots.some((one: { id: string }) => one.id === made.id)).toBe(false);
    expect((await childrenOf("run_unknown")).length).toBe(0);
  });

  test("is not called with an invalid input; its failure is reported to the parent's model", async () => {
    const child = await makeAgent({
      goal: "Child.",
      input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    });
    const parent = await makeAgent({ goal: "Parent.", tools: [asTool(child, "weather")] });
    parts({
      Parent: callAll({ name: "weather", args: {} }, { name: "weather", args: { city: "Oslo" } }),
      Child: () => ({ status: 400 }),
    });
    const answer = await run(parent);
    expect(answer.body).toMatchObject({ status: "done" });
    expect(answer.body.output.text).toContain("city");
    expect(answer.body.output.text).toContain("internal");
    const children = await childrenOf(answer.body.id);
    expect(children).toHaveLength(1);
    expect(children[0]).toMatchObject({ status: "error", error: { type: "internal" } });
  });

  test("works in parallel with its siblings, and below others", async () => {
    let together = 0;
    let most = 0;
    const leaf = await makeAgent({ goal: "Leaf." });
    const middle = await makeAgent({ goal: "Middle.", tools: [asTool(leaf, "leaf")] });
    const root = await makeAgent({
      goal: "Root.",
      tools: [asTool(middle, "middle"), asTool(leaf, "leaf"), "run_javascript"],
    });
    parts({
      Root: callAll(
        { name: "middle" },
        { name: "middle" },
        { name: "leaf" },
        { name: "run_javascript", args: { code: "40 + 2" } },
      ),
      Middle: callAll({ name: "leaf" }),
      Leaf: async () => {
        most = Math.max(most, ++together);
        await sleep(300);
        together--;
        return { text: "leaf" };
      },
    });
    const answer = await run(root);
    expect(answer.body, answer.text).toMatchObject({ status: "done" });
    expect(answer.body.output.text.match(/heard: /g)).toHaveLength(3);
    expect(answer.body.output.text).toContain("42");
    expect(most).toBeGreaterThan(1);
    const children = await childrenOf(answer.body.id);
    expect(children).toHaveLength(3);
    const grandchildren = (await Promise.all(children.map((one: { id: string }) => childrenOf(one.id)))).flat();
    expect(grandchildren).toHaveLength(2);
    const all = [...children, ...grandchildren];
    // Root and middles answer twice, leaves once: 2 + 2 * 2 + 3 calls of 100 tokens.
    expect(answer.body.usage.input_tokens).toBe(900);
    expect(all.every((one) => one.status === "done")).toBe(true);
    const calls = asked().length;
    expect(answer.body.cost).toBeCloseTo(calls * 0.0002, 6);
  });

  test("that no longer exists is named, and the run continues without it", async () => {
    const child = await makeAgent({ goal: "Child.", name: "Gone soon" });
    const parent = await makeAgent({ goal: "Parent.", tools: [asTool(child, "weather")] });
    await call("DELETE", `/v1/agents/${child}`);
    parts({ Parent: callAll({ name: "weather" }) });
    const answer = await run(parent);
    expect(answer.body.status).toBe("done");
    expect(answer.body.output.text).toContain("does not exist");
    expect((await events(answer.body.id))[0]?.message).toContain("weather");
  });

  test("on a model that the key cannot use is missing for that key", async () => {
    await platform.makeModel("other");
    const user = await platform.newUser({ key: { models: ["admin/llm"] } });
    const whole = (await call("POST", `/api/v2/admin/users/${user.name}/keys`, { json: {} })).body.key;
    const child = await makeAgent({ goal: "Child.", model: "admin/other" }, whole);
    const parent = await makeAgent({ goal: "Parent.", tools: [asTool(child, "weather")] }, whole);
    parts({ Parent: callAll({ name: "weather" }), Child: () => ({ text: "reached" }) });
    const confined = await run(parent, {}, user);
    expect(confined.body.output.text).toContain("does not exist");
    const free = await run(parent, {}, { key: whole });
    expect(free.body.output.text).toContain("reached");
  });
});

describe("limits are inherited", () => {
  test("children share the parent's time", async () => {
    const child = await makeAgent({ goal: "Child." });
    const parent = await makeAgent({ goal: "Parent.", tools: [asTool(child, "weather")] });
    parts({ Parent: callAll({ name: "weather" }), Child: () => new Promise(() => {}) });
    const answer = await run(parent, { timeout_seconds: 3 });
    expect(answer.body).toMatchObject({ status: "error", error: { type: "timeout" } });
    const took = Date.parse(answer.body.completed_at) - Date.parse(answer.body.created_at);
    expect(took).toBeLessThan(20_000);
    expect((await childrenOf(answer.body.id))[0]).toMatchObject({ status: "error", error: { type: "timeout" } });
    await waitFor("the upstream call to be closed", () => platform.llm.open === 0);
  });

  test("parallel work uses the time once, sequential work twice", async () => {
    const slow = createServer((_, response) => void sleep(3200).then(() => response.end("ok")));
    await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/`;
    const child = await makeAgent({ goal: "Child." });
    const parent = await makeAgent({ goal: "Parent.", tools: ["http_request", asTool(child, "weather")] });
    const request = { name: "http_request", args: { method: "GET", url } };
    const Child: Play = () => sleep(4000).then(() => ({ text: "late" }));
    parts({ Parent: callAll(request, { name: "weather" }), Child });
    expect((await run(parent, { timeout_seconds: 7 })).body).toMatchObject({ status: "done" });
    parts({
      Parent: (_, { length }) => (length < 2 ? { calls: [{ name: "weather", args: { length } }] } : { text: "never" }),
      Child,
    });
    const sequential = await run(parent, { timeout_seconds: 7 });
    slow.close();
    expect(sequential.body).toMatchObject({ status: "error", error: { type: "timeout" } });
    const took = Date.parse(sequential.body.completed_at) - Date.parse(sequential.body.created_at);
    expect(took).toBeGreaterThan(6900);
  });

  test("the total cost never exceeds the root's limit, in parallel or not", async () => {
    const child = await makeAgent({ goal: "Child.", tools: ["run_javascript"] });
    const parent = await makeAgent({ goal: "Parent.", tools: [asTool(child, "work")] });
    let n = 0;
    const usage = (request: LlmRequest) => ({
      usage: { in: Math.ceil(JSON.stringify(request).length / 4), out: Math.min(300, request.max_tokens ?? 300) },
    });
    parts({
      Parent: (request, results) => ({
        ...callAll(...Array(6).fill({ name: "work" }))(request, results),
        ...usage(request),
      }),
      Child: async (request) => {
        await sleep(30);
        return { calls: [{ name: "run_javascript", args: { code: `${n++}` } }], ...usage(request) };
      },
    });
    const answer = await run(parent, { max_cost: 0.05 });
    expect(answer.body, answer.text).toMatchObject({ status: "error", error: { type: "limit_exceeded" } });
    expect(answer.body.cost).toBeLessThanOrEqual(0.05);
    expect(answer.body.cost).toBeGreaterThan(0.04);
    const children = await childrenOf(answer.body.id);
    expect(children).toHaveLength(6);
    for (const one of children) expect(one).toMatchObject({ status: "error", error: { type: "limit_exceeded" } });
  });

  test("five levels deep and no deeper", async () => {
    let agent = await makeAgent({ goal: "Level6." });
    for (let level = 5; level >= 0; level--) {
      agent = await makeAgent({ goal: `Level${level}.`, tools: [asTool(agent, "deeper")] });
    }
    const play = callAll({ name: "deeper" });
    parts(
      Object.fromEntries(
        Array.from({ length: 7 }, (_, level) => [`Level${level}`, level === 6 ? () => ({ text: "bottom" }) : play]),
      ),
    );
    const answer = await run(agent);
    expect(answer.body.status, answer.text).toBe("done");
    expect(answer.body.output.text).toContain("limit_exceeded");
    expect(answer.body.output.text).not.toContain("bottom");
    // The last one was called and charged although its call failed: 2 of each level above, 1 of the deepest.
    expect(asked()).toHaveLength(11);
    expect(answer.body.cost).toBeCloseTo(11 * 0.0002, 6);
  });

  test("a cycle is refused when saving, and harmless if it exists anyway", async () => {
    const a = await makeAgent({ goal: "A." });
    const b = await makeAgent({ goal: "B.", tools: [asTool(a, "a")] });
    const refused = await call("PATCH", `/v1/agents/${a}`, { json: { tools: [asTool(b, "b")] } });
    expect(refused.status).toBe(400);
    const itself = await call("PATCH", `/v1/agents/${a}`, { json: { tools: [asTool(a, "a")] } });
    expect(itself.status).toBe(400);
    const { published_revision_id: revision } = (await call("GET", `/v1/agents/${a}`)).body;
    const { sql } = platform.gantry.database;
    const [row] = await sql<{ snapshot: Record<string, unknown> }[]>`
      select snapshot from agent_revisions where id = ${revision}`;
    const tools = [asTool(b, "b"), asTool(a, "a")];
    const circle = JSON.stringify({ ...row?.snapshot, tools });
    await sql`update agent_revisions set snapshot = ${circle}::text::json where id = ${revision}`;
    parts({ A: callAll({ name: "a" }, { name: "b" }), B: callAll({ name: "a" }) });
    const answer = await run(a);
    expect(answer.body.status, answer.text).toBe("done");
    // Neither directly nor through another: A and B both learn of it and answer.
    expect(answer.body.output.text.match(/cannot call itself/g)).toHaveLength(2);
    expect(asked()).toHaveLength(4);
  });
});

describe("cancelling is inherited", () => {
  let beside: GantryNode;
  beforeAll(async () => {
    beside = await startGantry({ beside: platform.gantry });
  });
  afterAll(() => beside.close());

  test("by children and grandchildren on any node, at once", async () => {
    const leaf = await makeAgent({ goal: "Leaf." });
    const middle = await makeAgent({ goal: "Middle.", tools: [asTool(leaf, "leaf")] });
    const root = await makeAgent({ goal: "Root.", tools: [asTool(middle, "middle"), asTool(leaf, "leaf")] });
    parts({
      Root: callAll({ name: "middle" }, { name: "leaf" }, { name: "leaf" }),
      Middle: callAll({ name: "leaf" }),
      Leaf: () => new Promise(() => {}),
    });
    const id = await start(root);
    await waitFor("all leaves to be under way", () => platform.llm.open === 3);
    const cancelled = await beside.call("POST", `/v1/runs/${id}/cancel`);
    expect(cancelled.body).toMatchObject({ status: "error", error: { type: "cancelled" } });
    await waitFor("the upstream calls to be closed", () => platform.llm.open === 0);
    const children = await childrenOf(id);
    expect(children).toHaveLength(3);
    for (const one of children) {
      expect(await ended(one.id)).toMatchObject({ status: "error", error: { type: "cancelled" } });
      for (const below of await childrenOf(one.id)) {
        expect(await ended(below.id)).toMatchObject({ status: "error", error: { type: "cancelled" } });
      }
    }
    expect((await events(id)).filter((event) => event.type === "error")).toHaveLength(1);
  });

  test("cancelling only a child is reported to its parent, which continues", async () => {
    const child = await makeAgent({ goal: "Child." });
    const parent = await makeAgent({ goal: "Parent.", tools: [asTool(child, "weather")] });
    parts({ Parent: callAll({ name: "weather" }), Child: () => new Promise(() => {}) });
    const id = await start(parent);
    await waitFor("the child to be under way", () => platform.llm.open === 1);
    const [one] = await childrenOf(id);
    expect((await call("POST", `/v1/runs/${one.id}/cancel`)).body.error.type).toBe("cancelled");
    const seen = await ended(id);
    expect(seen).toMatchObject({ status: "done" });
    expect(seen.output.text).toContain("cancelled");
  });

  test("a failing parent ends its children", async () => {
    const child = await makeAgent({ goal: "Child." });
    const parent = await makeAgent({ goal: "Parent.", tools: [asTool(child, "work"), "run_model"] });
    const input = { prompt: "a hill", size: "1280x720" };
    parts({
      Parent: callAll({ name: "work" }, { name: "run_model", args: { model: "gantry/image", input } }),
      Child: () => new Promise(() => {}),
    });
    // An image exceeds the limit, the child's work does not.
    const id = await start(parent, { max_cost: 0.02 });
    expect(await ended(id)).toMatchObject({ status: "error", error: { type: "limit_exceeded" } });
    await waitFor("the children to be ended", async () => {
      const children = await childrenOf(id);
      return children.every((one: { status: string }) => one.status === "error");
    });
    await waitFor("the upstream calls to be closed", () => platform.llm.open === 0);
  });

  test("an unknown parent lists nothing", async () => {
    expect((await call("GET", `/v1/runs?parent_run_id=${newId("run")}`)).body).toMatchObject({ runs: [], total: 0 });
    expect((await call("GET", "/v1/runs?parent_run_id=%00")).status).toBe(400);
  });
});
