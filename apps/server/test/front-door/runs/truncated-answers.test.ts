import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { anthropicDialect } from "../../../src/engines/models/test-upstreams/anthropic.dialect.ts";
import {
  answering,
  type Behaviour,
  beginStream,
  type ScriptedAnswer,
  TextUpstream,
} from "../../../src/engines/models/test-upstreams/text-upstream.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { gate, type Seen, useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, type LlmAnswer, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, makeModel, run, start, read, ended, events, types } = platform;
const asked = () => platform.llm.requests;
const lastSaid = (n: number) => asked()[n]?.messages.at(-1)?.content ?? "";

/** An answer cut at a limit that only the upstream knows; its token count is the answer's length. */
const cut = (answer: object): LlmAnswer => ({ finish: "length", usage: { in: 100, out: 4096 }, ...answer });
const js = (code: string) => ({ name: "run_javascript", args: { code } });
const output_schema = { type: "object", properties: { n: { type: "integer" } } };

describe("a truncated call", () => {
  test("before its arguments is not made, although the tool needs none, and the model learns why", async () => {
    platform.llm.script = inTurn(cut({ text: "I call", calls: [{ name: "wipe", args: "" }] }), { text: "over" });
    const below = await makeAgent({ input_schema: { type: "object", properties: { scope: { type: "string" } } } });
    const agent = await makeAgent({ tools: [{ type: "agent", agent_id: below, name: "wipe", description: "Wipes." }] });
    const answer = await run(agent);
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { text: "over" } });
    expect(asked()).toHaveLength(2);
    const [told] = toolResults(asked()[1]);
    expect(told).toContain("cut off at the limit of 4096 tokens");
    expect(told).toContain("nothing was done");
    expect(told).toContain("in parts");
    expect((await platform.gantry.call("GET", `/v1/agents/${below}/runs`)).body.total).toBe(0);
    expect(await types(answer.body.id)).toEqual(["planning", "reasoning", "tool_call", "tool_result", "completed"]);
  });

  test("within its arguments reports the limit instead of invalid JSON", async () => {
    platform.llm.script = inTurn(cut({ calls: [{ name: "run_javascript", args: '{"code":"1+' }] }), { text: "ok" });
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }));
    expect(answer.body.status, answer.text).toBe("done");
    const [told] = toolResults(asked()[1]);
    expect(told).toContain("the limit of 4096 tokens");
    expect(told).not.toContain("JSON");
  });

  test("within its name reports the limit instead of an unknown tool", async () => {
    platform.llm.script = inTurn(cut({ calls: [{ name: "run_java", args: "" }] }), { text: "ok" });
    expect((await run(await makeAgent({ tools: ["run_javascript"] }))).body.status).toBe("done");
    expect(toolResults(asked()[1])).toEqual([expect.stringContaining("the limit of 4096 tokens")]);
  });

  test("does not prevent the complete calls before it", async () => {
    platform.llm.script = inTurn(cut({ calls: [js("6 * 7"), js("3 * 4"), js("8 * 8")] }), { text: "ok" });
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }));
    expect(answer.body.status, answer.text).toBe("done");
    const told = toolResults(asked()[1]);
    expect(told.slice(0, 2)).toEqual([expect.stringContaining("42"), expect.stringContaining("12")]);
    // It looks complete, but may not be what the model intended.
    expect(told[2]).toContain("nothing was done");
    expect(told[2]).not.toContain("64");
  });

  test("never needs a confirmation", async () => {
    platform.llm.script = inTurn(cut({ calls: [js("6 * 7")] }), { text: "ok" });
    const answer = await run(await makeAgent({ tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] }));
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { text: "ok" } });
    expect(await types(answer.body.id)).toEqual(["planning", "tool_call", "tool_result", "completed"]);
  });

  test("repeatedly ends the run with the limit", async () => {
    let n = 0;
    platform.llm.script = () => cut({ calls: [{ name: "run_javascript", args: `{"code":"a long program ${n++}` }] });
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }));
    expect(answer.body, answer.text).toMatchObject({ status: "error", error: { type: "limit_exceeded" } });
    expect(answer.body.error.message).toContain("limit of 4096 tokens");
    expect(asked()).toHaveLength(3);
  });

  test("occasionally does not end the run", async () => {
    const empty = cut({ calls: [{ name: "run_javascript", args: "" }] });
    const whole = (n: number) => ({ calls: [js(`${n}`)] });
    platform.llm.script = inTurn(empty, whole(1), empty, whole(2), empty, whole(3), empty, { text: "ok" });
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }));
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { text: "ok" } });
  });
});

describe("a truncated final text", () => {
  test("is continued where it stopped, and the parts form one answer", async () => {
    platform.llm.script = inTurn(
      cut({ text: "The report begins, is cut in the mid" }),
      cut({ text: "dle, and once mo" }),
      { text: "re." },
    );
    const answer = await run(await makeAgent());
    const text = "The report begins, is cut in the middle, and once more.";
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { text } });
    expect(lastSaid(1)).toContain("cut off at the limit of 4096 tokens");
    expect(lastSaid(1)).toContain("is cut in the mid");
    expect(asked()[1]?.messages.at(-2)).toMatchObject({ role: "assistant", content: expect.stringMatching(/ mid$/) });
    const list = await events(answer.body.id);
    expect(list.map(({ type }) => type)).toEqual(["planning", "reasoning", "reasoning", "completed"]);
    expect(list[1].message).toContain("limit of 4096 tokens");
    expect(answer.body.usage).toMatchObject({ input_tokens: 300, output_tokens: 2 * 4096 + 10 });
  });

  test("is an object if the joined parts are one", async () => {
    platform.llm.script = inTurn(cut({ text: '{"a": [1, ' }), { text: "2]}" });
    expect((await run(await makeAgent())).body).toMatchObject({ status: "done", output: { a: [1, 2] } });
  });

  test("may turn out to lead up to a call", async () => {
    platform.llm.script = inTurn(
      cut({ text: "First I shall, in many words," }),
      { text: " compute.", calls: [js("6 * 7")] },
      { text: "42" },
    );
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }));
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { text: "42" } });
    expect(toolResults(asked()[2])).toHaveLength(1);
    const thoughts = (await events(answer.body.id)).filter(({ type }) => type === "reasoning");
    expect(thoughts.at(-1).message).toBe("First I shall, in many words, compute.");
  });

  test("is completed before formatting, and the formatted text is continued as well", async () => {
    platform.llm.script = inTurn(cut({ text: "sev" }), { text: "en" }, cut({ text: "SEV" }), { text: "EN" });
    const answer = await run(await makeAgent({ instructions: { formatting: "Shout." } }));
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { text: "SEVEN" } });
    expect(lastSaid(1)).not.toContain("Shout.");
    expect(lastSaid(2)).toContain("Shout.");
  });

  test("repeatedly ends the run with the limit, and every part is charged", async () => {
    platform.llm.script = () => cut({ text: "and so on " });
    const answer = await run(await makeAgent());
    expect(answer.body, answer.text).toMatchObject({ status: "error", error: { type: "limit_exceeded" } });
    expect(answer.body.error.message).toContain("limit of 4096 tokens");
    expect(answer.body).not.toHaveProperty("output");
    expect(asked()).toHaveLength(5);
    expect(answer.body.usage.output_tokens).toBe(5 * 4096);
  });

  test("during reasoning is requested with less reasoning", async () => {
    platform.llm.script = inTurn(cut({ reasoning: "Hm." }), { text: "seven" });
    expect((await run(await makeAgent())).body).toMatchObject({ status: "done", output: { text: "seven" } });
    expect(lastSaid(1)).toContain("the limit of 4096 tokens");
    expect(lastSaid(1)).toContain("Think less");
  });

  test.each([
    ["that was set, where one was", 5000, 4096],
    ["that was set, where nothing is counted", 0, 4096],
    ["of the model, where it is lower", 300, 300],
  ])("names the limit %s", async (_, out, limit) => {
    platform.llm.script = inTurn({ text: "sev", finish: "length", usage: { in: 100, out } }, { text: "en" });
    const answer = await run(await makeAgent(), { max_cost: 1 });
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { text: "seven" } });
    expect(asked()[0]?.max_tokens).toBe(4096);
    expect(lastSaid(1)).toContain(`the limit of ${limit} tokens`);
  });

  test("by the model's own limit is continued although no long answer is affordable", async () => {
    platform.llm.script = inTurn({ text: "sev", finish: "length", usage: { in: 100, out: 300 } }, { text: "en" });
    const answer = await run(await makeAgent(), { max_cost: 0.02 });
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { text: "seven" } });
    expect(asked()[0]?.max_tokens).toBeLessThan(4096);
  });

  test("is still known as truncated after a summary", async () => {
    await makeModel("narrow", { context_window: 400 });
    const long = `${"A long report of many words. ".repeat(120)}It ends in the mid`;
    platform.llm.script = inTurn(cut({ text: long }), { text: "I was writing the report." }, { text: "dle." });
    const answer = await run(await makeAgent({ model: "admin/narrow" }));
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { text: `${long}dle.` } });
    expect(await types(answer.body.id)).toEqual(["planning", "reasoning", "compressed", "completed"]);
    expect(asked()[2]?.messages.some(({ role }) => role === "assistant")).toBe(false);
    expect(lastSaid(2)).toContain("It ends in the mid");
  });
});

describe("a truncated plan", () => {
  test("is used as far as it goes, and the model knows", async () => {
    platform.llm.script = inTurn(cut({ text: "1. Compute. 2. Ans" }), { text: "Seven." });
    const answer = await run(await makeAgent({ instructions: { planning: "Plan." } }));
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { text: "Seven." } });
    expect(lastSaid(1)).toContain("cut off at the limit of 4096 tokens");
  });
});

describe("with a schema, a truncated answer", () => {
  test("counts as one attempt: the model learns that it was truncated, not its faults", async () => {
    platform.llm.script = inTurn(cut({ text: '{"n": 4' }), { text: '{"n": 4}' });
    const answer = await run(await makeAgent({ output_schema }));
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { n: 4 } });
    expect(lastSaid(1)).toContain("cut off at the limit of 4096 tokens");
    expect(lastSaid(1)).not.toContain("schema");
  });

  test("is not used although it satisfies the schema", async () => {
    platform.llm.script = inTurn(cut({ text: "{}" }), cut({ text: 'Well: {"n": 1}. But' }), { text: '{"n": 4}' });
    const answer = await run(await makeAgent({ output_schema }));
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { n: 4 } });
  });

  test("that is never complete ends the run like other invalid answers, with the limit", async () => {
    platform.llm.script = () => cut({ text: '{"n": 4' });
    const answer = await run(await makeAgent({ output_schema }));
    expect(answer.body, answer.text).toMatchObject({ status: "error", error: { type: "internal" } });
    expect(answer.body.error.message).toContain("limit of 4096 tokens");
    expect(asked()).toHaveLength(3);
  });

  test("after tools is requested in its format, with the truncation noted", async () => {
    platform.llm.script = inTurn(cut({ text: 'It is {"n": 1} or rather' }), { text: '{"n": 4}' });
    const answer = await run(await makeAgent({ output_schema, tools: ["run_javascript"] }));
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { n: 4 } });
    expect(lastSaid(1)).toContain("cut off at the limit of 4096 tokens");
    expect(asked()[1]?.response_format).toBeDefined();
  });
});

describe("a model of Anthropic", () => {
  const upstream = new TextUpstream({ ...anthropicDialect, problem: unsignedThoughts });
  const cutOff =
    (answer: ScriptedAnswer, mend = (block: string) => block): Behaviour =>
    ({ response, dialect }) => {
      beginStream(response);
      const blocks = dialect.blocks({ ...answer, usage: { input: 10, output: 4096 } });
      const sent = blocks.map((block) => block.replace(/"stop_reason":"[a-z_]+"/, '"stop_reason":"max_tokens"'));
      response.end(sent.map((block) => `${mend(block)}\n\n`).join(""));
    };
  const call = (name: string, json: string): ScriptedAnswer => ({
    toolCalls: [{ id: "toolu_1", name, arguments: json }],
    usage: { input: 10, output: 10 },
  });
  const messages = (n: number): Seen => upstream.requests[n]?.body.messages;
  beforeAll(async () => {
    await upstream.start();
    await makeModel("claude", { backend: { type: "anthropic", url: upstream.url, model: "m-1" } });
  });
  afterAll(() => upstream.stop());

  test("truncated while submitting its answer has not answered", async () => {
    upstream.play(
      cutOff(call("gantry_submit_answer", "")),
      cutOff(call("gantry_submit_answer", '{"n": 4, "why": "bec')),
      answering(call("gantry_submit_answer", '{"n":4}')),
    );
    const answer = await run(await makeAgent({ model: "admin/claude", output_schema }));
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { n: 4 } });
    for (const n of [1, 2]) {
      expect(JSON.stringify(messages(n).at(-1))).toContain("cut off at the limit of 4096 tokens");
    }
  });

  test("truncated while calling a tool has not called it", async () => {
    upstream.play(cutOff(call("run_javascript", "")), answering({ text: ["ok"], usage: { input: 10, output: 2 } }));
    const answer = await run(await makeAgent({ model: "admin/claude", tools: ["run_javascript"] }));
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { text: "ok" } });
    expect(messages(1).at(-1).content[0]).toMatchObject({ type: "tool_result", is_error: true });
    expect(messages(1).at(-1).content[0].content).toContain("the limit of 4096 tokens");
  });

  test("truncated while thinking does not get its thoughts back: they are not signed", async () => {
    upstream.play(
      cutOff({ reasoning: ["long thoughts"] }, (block) => block.replace("c2lnbmVk", "")),
      answering({ text: ["ok"], usage: { input: 10, output: 2 } }),
    );
    const answer = await run(await makeAgent({ model: "admin/claude" }));
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { text: "ok" } });
  });

  function unsignedThoughts(body: Record<string, unknown>): string | undefined {
    const sent = (body.messages as { content: { type: string; signature?: string }[] }[]).flatMap(
      ({ content }) => content,
    );
    return sent.some(({ type, signature }) => type === "thinking" && !signature)
      ? "thinking.signature: Field required"
      : undefined;
  }
});

// The last tests of this file: the platform's node does no work afterwards.
describe("a worker that stops in between", () => {
  const nodes: GantryNode[] = [];
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.close();
  });
  const worker = async () => {
    const node = await startGantry({ beside: platform.gantry });
    nodes.push(node);
    return node;
  };

  test("leaves a text that the next one continues, and no call is charged twice", async () => {
    const held = gate();
    const user = await platform.newUser();
    const agent = await makeAgent({}, user.key);
    platform.llm.script = async (_, n) => {
      if (n === 1) return cut({ text: "It is cut in the mid" });
      if (n > 2) return { text: "dle." };
      await held.promise;
      return { text: "never heard" };
    };
    const id = await start(agent, {}, user);
    await waitFor("the model to be asked to go on", () => asked().length === 2);
    await platform.gantry.gantry.drain(500);
    expect(await read(id, user.key)).toMatchObject({ status: "running" });
    await worker();
    const seen = await ended(id, user.key);
    held.open();
    expect(seen).toMatchObject({ status: "done", output: { text: "It is cut in the middle." } });
    expect(seen.usage).toMatchObject({ input_tokens: 200, output_tokens: 4096 + 10 });
    expect(asked()).toHaveLength(3);
    expect(asked()[2]?.messages).toEqual(asked()[1]?.messages);
    const { results } = (await platform.gantry.call("GET", "/api/v2/usage", { key: user.key })).body;
    const paid = results.filter(({ price }: Seen) => price > 0);
    expect(paid).toHaveLength(2);
    expect(seen.cost).toBeCloseTo(
      paid.reduce((sum: number, { price }: Seen) => sum + price, 0),
      6,
    );
  });
});
