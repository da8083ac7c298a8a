import { expect, test } from "vitest";
import { gate, type Seen, useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

/** Calls run in parallel and end in any order: each result names its call. */

const platform = useRunsPlatform();
const { makeAgent, run, start, ended, events } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const js = (code: string) => ({ name: "run_javascript", args: { code } });
const shown = /^call_[0-9a-f]{12}$/;

/** The events of calls by call id, each with its position. */
function tied(list: Seen[]): Map<string, Seen[]> {
  const byCall = new Map<string, Seen[]>();
  for (const event of list) {
    if (event.call_id === undefined) continue;
    expect(event.call_id).toMatch(shown);
    byCall.set(event.call_id, [...(byCall.get(event.call_id) ?? []), event]);
  }
  return byCall;
}

async function streamed(runId: string): Promise<Seen[]> {
  const text = await (await platform.gantry.fetch("GET", `/v1/runs/${runId}/events`)).text();
  return [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, type, data]) => ({
    type,
    ...JSON.parse(data ?? ""),
  }));
}

test("six calls of one step, and calls of another, each with its result, in the list and in the stream", async () => {
  const codes = ["'a'", "for (let i = 0; i < 2e5; i++); 'b'", "'c'", "'d'", "'e'", "'f'"];
  platform.llm.script = inTurn(
    { calls: codes.map(js) },
    { calls: [js("'a'"), { name: "nothing", args: {} }] },
    { text: "." },
  );
  const { body } = await run(await makeAgent({ tools: ["run_javascript"] }));
  for (const list of [await events(body.id), await streamed(body.id)]) {
    const pairs = [...tied(list).values()];
    expect(pairs).toHaveLength(8);
    for (const [first, second, ...more] of pairs) {
      expect([first.type, second.type, more]).toEqual(["tool_call", "tool_result", []]);
      expect(second.tool).toBe(first.tool);
      if (first.tool === "nothing") expect(second.result).toContain("does not exist");
      else expect(second.result).toContain(/'(.)'/.exec(first.arguments.code)?.[1]);
    }
  }
});

test("a confirmation, its call and its result; the parent run does not show it as its own call", async () => {
  platform.llm.script = (request) => {
    const results = toolResults(request);
    if (results.length > 0) return { text: results.join() };
    return request.messages[1]?.content?.startsWith("Child")
      ? { calls: [js("6 * 7")] }
      : { calls: [{ name: "child", args: {} }] };
  };
  const child = await makeAgent({
    goal: "Child.",
    tools: [{ type: "tool", id: "run_javascript", confirm: "always" }],
  });
  const parent = await makeAgent({ goal: "Parent.", tools: [{ type: "agent", agent_id: child, name: "child" }] });
  const id = await start(parent);
  const questions = async () => (await call("GET", `/v1/runs/${id}/confirmations`)).body.confirmations;
  await waitFor("the question", async () => (await questions()).length === 1);
  const [asked] = await questions();
  await call("POST", `/v1/runs/${id}/confirmations/${asked.id}`, { json: { approve: true } });
  expect(await ended(id)).toMatchObject({ status: "done" });

  const below = tied(await events(asked.run_id));
  expect([...below.values()].map((of) => of.map(({ type }) => type))).toEqual([
    ["confirmation_required", "tool_call", "tool_result"],
  ]);
  const above = tied(await events(id));
  expect([...above.values()].map((of) => of.map(({ type }) => type))).toEqual([
    ["tool_call", "tool_result"],
    ["confirmation_required"],
  ]);
  expect([...above.keys()][1]).toBe([...below.keys()][0]);
});

test("parallel sub-agents, even with the same answer", async () => {
  const held = gate();
  platform.llm.script = async (request) => {
    const goal = request.messages[1]?.content ?? "";
    const results = toolResults(request);
    if (goal.startsWith("Parent")) {
      return results.length > 0
        ? { text: "done" }
        : { calls: ["slow", "same", "same", "quick"].map((say) => ({ name: "child", args: { say } })) };
    }
    if (goal.includes("slow")) await held.promise;
    if (goal.includes("quick")) setTimeout(() => held.open(), 300);
    return { text: /say (\w+)/.exec(goal)?.[1] ?? "" };
  };
  const child = await makeAgent({ goal: "Child, say {{say}}." });
  const parent = await makeAgent({ goal: "Parent.", tools: [{ type: "agent", agent_id: child, name: "child" }] });
  const { body } = await run(parent);
  expect(body).toMatchObject({ status: "done" });
  for (const list of [await events(body.id), await streamed(body.id)]) {
    expect(list.filter(({ type }) => type === "tool_result").at(-1)?.result).toContain("slow");
    const pairs = [...tied(list).values()];
    expect(pairs).toHaveLength(4);
    for (const [first, second, ...more] of pairs) {
      expect([first.type, second.type, more]).toEqual(["tool_call", "tool_result", []]);
      expect(second.result).toContain(first.arguments.say);
    }
  }
});

test("events without call ids from earlier versions are read unchanged", async () => {
  platform.llm.script = inTurn({ calls: [js("1")] }, { text: "done" });
  const { body } = await run(await makeAgent({ tools: ["run_javascript"] }));
  const { sql } = platform.gantry.database;
  await sql`
    update run_events set data = (data::jsonb - 'call_id')::json where run_id = ${body.id} and data -> 'call_id' is not null`;
  const told = (await streamed(body.id)).filter(({ tool }) => tool !== undefined);
  expect(told).toEqual([
    { type: "tool_call", tool: "run_javascript", arguments: { code: "1" } },
    { type: "tool_result", tool: "run_javascript", result: "1" },
  ]);
  expect(await events(body.id)).toHaveLength(4);
});
