import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { type LlmRequest, toolResults } from "../../support/scripted-llm.ts";

const window = 2000;
const platform = useRunsPlatform({ context_window: window });
const { makeAgent, run, events } = platform;
const asked = () => platform.llm.requests;
const isSummary = ({ messages }: LlmRequest) => messages.at(-1)?.content?.includes("Write down everything") ?? false;
/** About so many tokens, none of them like another. */
const words = (n: number, name: string) => Array.from({ length: n }, (_, i) => `${name}${i}`).join(" ");
const long = (n: number, name: string) => ({
  name: "run_javascript",
  args: { code: `Array.from({ length: ${n} }, (_, i) => "${name}" + i).join(" ")` },
});
const goal = "Find out {{what}}, and keep to this word: XYZZY.";
const output_schema = {
  type: "object",
  properties: { found: { type: "string", description: "PLUGH" } },
  required: ["found"],
};

/** Every call is followed by its result. */
function pairsHold({ messages }: LlmRequest): void {
  for (const [place, message] of messages.entries()) {
    const ids = ((message.tool_calls ?? []) as { id: string }[]).map(({ id }) => id);
    const following = messages.slice(place + 1, place + 1 + ids.length);
    expect(following.map((one) => one.tool_call_id)).toEqual(ids);
    if (message.role === "tool") {
      const before = messages.slice(0, place).findLast((one) => one.role === "assistant");
      expect(JSON.stringify(before?.tool_calls)).toContain(message.tool_call_id);
    }
  }
}

describe("a conversation that exceeds the model's window", () => {
  test("has its long results shortened first, oldest first, keeping start and end; the store keeps all", async () => {
    let n = 0;
    platform.llm.script = () => {
      n++;
      const half = '" the quick brown fox jumps over the lazy dog".repeat(17)';
      const code = `"r${n} START" + ${half} + " r${n} MIDDLE" + ${half} + " r${n} END"`;
      return n <= 4 ? { calls: [{ name: "run_javascript", args: { code } }] } : { text: "found" };
    };
    const answer = await run(await makeAgent({ goal, tools: ["run_javascript"] }), { input: { what: "it" } });
    expect(answer.body, answer.text).toMatchObject({ status: "done" });
    expect(asked().some(isSummary)).toBe(false);
    const list = await events(answer.body.id);
    const compressed = list.filter((event) => event.type === "compressed");
    expect(compressed.length).toBeGreaterThan(0);
    expect(compressed[0]).toMatchObject({ message: expect.any(String), before_tokens: expect.any(Number) });
    expect(compressed[0].before_tokens).toBeGreaterThan(window * 0.8);
    const last = asked().at(-1) as LlmRequest;
    const [first = "", , , newest = ""] = toolResults(last);
    expect(first).toContain("r1 START");
    expect(first).toContain("r1 END");
    expect(first).toContain("characters left out");
    expect(first).not.toContain("r1 MIDDLE");
    expect(newest).toContain("r4 MIDDLE");
    for (const request of asked()) {
      pairsHold(request);
      expect(request.messages[1]?.content).toContain("keep to this word: XYZZY");
    }
    // Events keep every full result.
    const results = list.filter((event) => event.type === "tool_result");
    expect(results).toHaveLength(4);
    for (const { result } of results) expect(result).toMatch(/START.*MIDDLE.*END/s);
    const { sql } = platform.gantry.database;
    const stored = await sql<{ result: string }[]>`select result from run_calls where run_id = ${answer.body.id}`;
    for (const { result } of stored) expect(result).toMatch(/START.*MIDDLE.*END/s);
  });

  test.each([1, 2])("is not summarised if shortening is enough, with %i visible steps", async (steps) => {
    await platform.makeModel(`eight-${steps}`, { context_window: 8000 });
    platform.llm.script = (request, n) => {
      if (isSummary(request)) return { text: "SUMMARY" };
      if (n < steps) return { calls: [{ name: "run_javascript", args: { code: "1" } }] };
      return n === steps ? { calls: [long(9000, "r")] } : { text: "found" };
    };
    const answer = await run(await makeAgent({ goal, tools: ["run_javascript"], model: `admin/eight-${steps}` }));
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { text: "found" } });
    expect(asked().some(isSummary)).toBe(false);
    expect(asked()).toHaveLength(steps + 1);
    const results = toolResults(asked().at(-1));
    expect(results).toHaveLength(steps);
    expect(results.at(-1)).toMatch(/^"?r0 r1 .*characters left out.* r8999"?$/s);
    const [compressed, more] = (await events(answer.body.id)).filter((event) => event.type === "compressed");
    expect(compressed.after_tokens).toBeLessThan(8000 * 0.8);
    expect(more).toBeUndefined();
  });

  test("is summarised next by a separate call, counted and reported; goal and schema stay", async () => {
    let n = 0;
    platform.llm.script = (request) => {
      if (isSummary(request)) return { text: "SUMMARY: it was r1 and r2.", usage: { in: 111, out: 22 } };
      n++;
      if (n <= 12) return { text: words(110, `t${n}x`), calls: [{ name: "run_javascript", args: { code: `${n}` } }] };
      return { text: '{"found": "all"}' };
    };
    const agent = await makeAgent({ goal, tools: ["run_javascript"], output_schema });
    const answer = await run(agent, { input: { what: "it" } });
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { found: "all" } });
    const summaries = asked().filter(isSummary);
    expect(summaries.length).toBeGreaterThan(0);
    expect(summaries.length).toBeLessThan(6);
    expect(answer.body.usage.input_tokens).toBe(summaries.length * 111 + (asked().length - summaries.length) * 100);
    const last = asked().at(-1) as LlmRequest;
    expect(last.messages[1]?.content).toContain("Find out it, and keep to this word: XYZZY.");
    expect(last.messages[1]?.content).toContain("SUMMARY: it was r1 and r2.");
    expect(JSON.stringify(last.messages)).not.toContain("t1x0");
    expect(JSON.stringify(last.messages)).toContain("t12x0");
    for (const request of asked()) {
      pairsHold(request);
      expect(JSON.stringify(request.messages).length / 3).toBeLessThan(window * 1.2);
    }
    for (const request of summaries) expect(request.tool_choice).toBe("none");
    const compressed = (await events(answer.body.id)).filter((event) => event.type === "compressed");
    expect(compressed).toHaveLength(summaries.length);
    expect(compressed[0]).toMatchObject({ summary: "SUMMARY: it was r1 and r2." });
  });

  test("the summariser stays within the window, whatever a single step returned", async () => {
    let n = 0;
    platform.llm.script = (request) => {
      if (isSummary(request)) return { text: "SUMMARY" };
      n++;
      if (n === 1) return { calls: Array.from({ length: 20 }, (_, i) => long(400, `p${i}x`)) };
      if (n <= 5)
        return { calls: [long(400, `r${n}x`), { name: "run_javascript", args: { code: `"${words(300, "arg")}"` } }] };
      return { text: "found" };
    };
    const answer = await run(await makeAgent({ goal, tools: ["run_javascript"] }));
    expect(answer.body, answer.text).toMatchObject({ status: "done" });
    for (const request of asked()) {
      pairsHold(request);
      const told = JSON.stringify([request.messages, request.tools]);
      // These texts have at least two characters per token.
      expect(told.length / 4, `${asked().indexOf(request)}`).toBeLessThan(window * 1.5);
    }
  });

  test("includes its tools", async () => {
    await platform.makeModel("small", { context_window: 1200 });
    const props = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`field_${i}`, { type: "string", description: words(6, `d${i}x`) }]),
    );
    const child = await makeAgent({ goal: "Child.", input_schema: { type: "object", properties: props } });
    const tools = ["run_javascript", { type: "agent", agent_id: child, name: "child" }];
    let n = 0;
    platform.llm.script = () => (++n <= 3 ? { calls: [long(80, `r${n}x`)] } : { text: "found" });
    const answer = await run(await makeAgent({ goal, tools, model: "admin/small" }));
    expect(answer.body.status).toBe("done");
    expect((await events(answer.body.id)).some((event) => event.type === "compressed")).toBe(true);
  });

  test("is unchanged when compression is off", async () => {
    let n = 0;
    platform.llm.script = () => (++n <= 6 ? { calls: [long(300, `r${n}x`)] } : { text: "found" });
    const agent = await makeAgent({ goal, tools: ["run_javascript"], context_compression: false });
    const answer = await run(agent);
    expect(answer.body.status).toBe("done");
    expect((await events(answer.body.id)).some((event) => event.type === "compressed")).toBe(false);
    for (const result of toolResults(asked().at(-1))) expect(result).toMatch(/x100 .*x299/s);
  });

  test("a result above 64 kB is truncated for the model with a mark", async () => {
    await platform.makeModel("wide", { context_window: 200_000 });
    platform.llm.script = (_, n) => (n === 1 ? { calls: [long(20_000, "w")] } : { text: "found" });
    const answer = await run(await makeAgent({ goal, tools: ["run_javascript"], model: "admin/wide" }));
    expect(answer.body.status).toBe("done");
    const [result = ""] = toolResults(asked()[1]);
    expect(Buffer.byteLength(result)).toBeLessThan(66_000);
    expect(Buffer.byteLength(result)).toBeGreaterThan(64_000);
    expect(result).toMatch(/\[cut: \d{6,} characters in all\]/);
  });
});

describe("a repeated call", () => {
  const note = /This very call has brought this very result (\d) times/;
  /** Notes to the model beside each result. */
  async function told(call: { name: string; args: unknown }): Promise<(string | undefined)[]> {
    platform.llm.script = (_, n) => (n <= 4 ? { calls: [call] } : { text: "found" });
    const answer = await run(await makeAgent({ goal, tools: [call.name] }));
    expect(answer.body, answer.text).toMatchObject({ status: "done" });
    return toolResults(asked().at(-1)).map((result) => note.exec(result)?.[1]);
  }

  test("is noted from the third time on if its result is the same", async () => {
    expect(await told({ name: "run_javascript", args: { code: "1" } })).toEqual([undefined, undefined, "3", "4"]);
  });

  test("is not noted if its result is new each time", async () => {
    let n = 0;
    const server = createServer((_, response) => response.end(`status ${++n}`));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const notes = await told({ name: "http_request", args: { method: "GET", url } });
    server.close();
    expect(notes).toEqual([undefined, undefined, undefined, undefined]);
    expect(toolResults(asked().at(-1)).join()).not.toContain("This very call");
    expect(n).toBe(4);
  });
});
