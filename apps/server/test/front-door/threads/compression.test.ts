import { expect, test } from "vitest";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import type { LlmRequest } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const window = 2000;
const platform = useRunsPlatform({
  context_window: window,
  pricing: { per_million_input_tokens: 1, per_million_output_tokens: 10 },
});
const { makeAgent, run, events } = platform;
const asked = () => platform.llm.requests;
const isSummary = ({ messages }: LlmRequest) => messages.at(-1)?.content?.includes("Write down everything") ?? false;
const words = (n: number, name: string) => Array.from({ length: n }, (_, i) => `${name}${i}`).join(" ");

test("turns that fill the window are summarized once, by a charged step; later runs use the summary", async () => {
  const agent = await makeAgent({ goal: "Answer {{question}}." });
  const thread_id = "long";
  let turn = 0;
  platform.llm.script = (request) =>
    isSummary(request)
      ? { text: `SUMMARY ${turn}`, usage: { in: 1000, out: 100 } }
      : { text: words(90, `answer${turn}x`), usage: { in: 500, out: 200 } };
  const runs: string[] = [];
  for (turn = 1; turn <= 13; turn++) {
    const answer = await run(agent, { input: { question: `question ${turn}?` }, thread_id });
    expect(answer.body, answer.text).toMatchObject({ status: "done" });
    runs.push(answer.body.id);
  }
  const summaries = asked().filter(isSummary);
  expect(summaries.length).toBeGreaterThan(1);
  expect(summaries.length).toBeLessThan(5);
  for (const request of asked()) expect(JSON.stringify(request.messages).length / 3).toBeLessThan(window * 1.2);

  // The first summary has all older turns, a second one also the summary before it.
  const [first, second] = summaries;
  expect(JSON.stringify(first)).toContain("question 1?");
  expect(JSON.stringify(second)).toMatch(/SUMMARY \d/);
  expect(JSON.stringify(second)).not.toContain("question 1?");
  const last = asked().at(-1) as LlmRequest;
  const goal = last.messages.at(-1)?.content ?? "";
  expect(goal).toMatch(/^Answer question 13\?\..*The conversation before that, in short:\nSUMMARY \d+$/s);
  expect(JSON.stringify(last)).not.toContain("question 1?");
  expect(JSON.stringify(last)).toContain("Earlier input:\\nquestion 12?");

  // The run that needed it pays for it, and says so.
  const all = await Promise.all(runs.map(async (id) => ({ run: await platform.read(id), events: await events(id) })));
  const compressed = all.filter((one) => one.events.some(({ type }) => type === "compressed"));
  expect(compressed).toHaveLength(summaries.length);
  for (const one of compressed) {
    const event = one.events.find(({ type }) => type === "compressed");
    expect(event).toMatchObject({ summary: expect.stringContaining("SUMMARY"), before_tokens: expect.any(Number) });
    expect(one.run.usage).toMatchObject({ input_tokens: 1500, output_tokens: 300 });
    expect(one.run.cost).toBeCloseTo(0.0045, 6);
  }
  const { steps } = (await platform.gantry.call("GET", `/v1/runs/${compressed[0]?.run.id}/trace`)).body;
  const model = steps.filter(({ kind }: { kind: string }) => kind === "model");
  expect(model).toHaveLength(2);
  const detail = await platform.gantry.call("GET", `/v1/runs/${compressed[0]?.run.id}/trace/${model[0].id}`);
  expect(detail.body.messages.at(-1).content).toContain("Write down everything");
  expect(detail.body.messages[1].content).toBe("Earlier input:\nquestion 1?");
});

test("a very long turn is shortened; without compression the oldest turns are left out", async () => {
  const thread_id = "huge";
  const agent = await makeAgent({ goal: "Answer.", context_compression: false });
  platform.llm.script = () => ({ text: `START ${"huge".repeat(80_000)} END` });
  await run(agent, { input: { text: `BEGIN ${"x".repeat(300_000)}` }, thread_id });
  platform.llm.script = () => ({ text: words(150, "w") });
  for (let turn = 2; turn <= 8; turn++) await run(agent, { input: { text: `question ${turn}` }, thread_id });
  expect(asked().some(isSummary)).toBe(false);
  const [, second] = asked();
  const shown = JSON.stringify(second?.messages);
  expect(shown).toContain("BEGIN");
  expect(shown).toMatch(/START.*characters left out/);
  expect(shown.length).toBeLessThan(window * 3);
  const last = JSON.stringify(asked().at(-1)?.messages);
  expect(last).toContain("question 7");
  expect(last).not.toContain("question 2");
});

test("a summary that was paid before its worker was lost is not made again", async () => {
  await platform.makeModel("paid", { context_window: window, pricing: { per_request: 0.1 } });
  const agent = await makeAgent({ goal: "Answer {{question}}.", model: "admin/paid" });
  const thread_id = "lost";
  const held = gate();
  platform.llm.script = async (request) => {
    if (!isSummary(request)) return { text: words(90, "w") };
    await held.promise;
    return { text: "PAID SUMMARY" };
  };
  const begin = (n: number) => platform.start(agent, { input: { question: `${n}?` }, thread_id });
  let last = "";
  for (let n = 1; n < 20 && !asked().some(isSummary); n++) {
    last = await begin(n);
    const isOver = async () => asked().some(isSummary) || (await platform.read(last)).status === "done";
    await waitFor("the end of the turn, or its summary", isOver);
  }
  const { database } = platform.gantry;
  await database.transaction(async (tx) => {
    await tx`select 1 from runs where id = ${last} for update`;
    held.open();
    const paid = () => database.sql`select 1 from ended_predictions where run_id = ${last} and status = 200`;
    await waitFor("the summary to be paid", async () => (await paid()).length === 1);
    // What other nodes do when its heartbeat stops.
    await tx`select release_runs(holder) from runs where id = ${last}`;
  });
  expect(await platform.ended(last)).toMatchObject({ status: "done", cost: 0.2 });
  expect(asked().filter(isSummary)).toHaveLength(1);
  expect(asked().at(-1)?.messages.at(-1)?.content).toContain("PAID SUMMARY");
  expect((await events(last)).filter(({ type }) => type === "compressed")).toHaveLength(1);
});
