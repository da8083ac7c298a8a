import { describe, expect, test } from "vitest";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform({ context_window: 200_000 });
const { makeAgent, run, newUser } = platform;
const asked = () => platform.llm.requests;

describe("an input that cannot be checked in time", () => {
  test("is refused alone: other inputs for the same agent are accepted at once", async () => {
    const pattern =
      "^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$";
    const agent = await makeAgent({
      visibility: "public",
      input_schema: { type: "object", properties: { email: { type: "string", pattern } }, required: ["email"] },
    });
    const [one, another] = [await newUser(), await newUser()];
    const hostile = { input: { email: `${"a".repeat(60)}!` } };
    const refused = await run(agent, hostile, { key: one.key });
    expect(refused.status, refused.text).toBe(400);
    expect(refused.body.error).toMatchObject({ type: "invalid_input", message: expect.stringContaining("1000 ms") });

    const good = await run(agent, { input: { email: "ann@example.com" } }, { key: another.key });
    expect(good.body, good.text).toMatchObject({ status: "done" });
    const wrong = await run(agent, { input: { email: "invalid" } }, { key: another.key });
    expect(wrong.body.error).toMatchObject({ type: "invalid_input", message: expect.stringContaining("pattern") });

    // Another check would take 1,000 ms each; a busy machine does not slow all of them that much.
    const times: number[] = [];
    for (let n = 0; n < 5; n++) {
      const before = performance.now();
      expect((await run(agent, hostile, { key: one.key })).status).toBe(400);
      times.push(performance.now() - before);
    }
    expect(Math.min(...times)).toBeLessThan(1000);
  });
});

describe("an answer of the model", () => {
  test("that cannot be checked in time fails its own run and no other of the same agent", async () => {
    const hostile = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } };
    platform.llm.script = ({ messages }) => ({
      text: JSON.stringify({ a: messages[1]?.content?.includes("harm") ? `${"a".repeat(60)}!` : "aaa" }),
    });
    const agent = await makeAgent({ output_schema: hostile });
    const harmful = run(agent, { input: { thing: "harm" } });
    await waitFor("the first answer", () => asked().length > 0);
    const beside = await run(agent, { input: { thing: "good" } });
    expect(beside.body, beside.text).toMatchObject({ status: "done", output: { a: "aaa" } });
    const answer = await harmful;
    expect(answer.body).toMatchObject({ status: "error", error: { type: "internal" } });
    const after = await run(agent, { input: { thing: "good" } });
    expect(after.body, after.text).toMatchObject({ status: "done", output: { a: "aaa" } });
    // Each valid one at the first attempt.
    expect(asked().filter(({ messages }) => messages[1]?.content?.includes("good"))).toHaveLength(2);
  });

  test("that is nested too deeply fails only its run", async () => {
    platform.llm.script = () => ({ text: `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}` });
    const answer = await run(await makeAgent({ output_schema: { type: "object" } }));
    expect(answer.body, answer.text).toMatchObject({ status: "error", error: { type: "internal" } });
    expect(answer.body.error.message).toContain("Nested too deeply");
  });
});

describe("a number that overflows", () => {
  const number = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const withCall = (name: string, args: string) => {
    platform.llm.script = (request) =>
      toolResults(request).length === 0 ? { calls: [{ name, args }] } : { text: toolResults(request).join(" | ") };
  };

  test.each([
    ["where the schema says number", number, '{"n": 1e400}', '{"n": 1e300}'],
    ["where it says nothing", { type: "object" }, '{"m": [{"n": -1e400}]}', '{"m": [{"n": -1e300}]}'],
  ])("in an answer is requested again, %s", async (_, output_schema, wrong, right) => {
    platform.llm.script = inTurn({ text: wrong }, { text: wrong }, { text: right });
    const { body } = await run(await makeAgent({ output_schema }));
    expect(body).toMatchObject({ status: "done", output: JSON.parse(right) });
    expect(asked()).toHaveLength(3);
    expect(asked().at(-1)?.messages.at(-1)?.content).toContain("n: must be a number between");
  });

  test("in an answer without a schema is text", async () => {
    platform.llm.script = () => ({ text: '{"n": 1e400}' });
    const agent = await makeAgent();
    expect((await run(agent)).body.output).toEqual({ text: '{"n": 1e400}' });
    platform.llm.script = () => ({ text: '```json\n{"n": [1e400]}\n```' });
    expect((await run(agent)).body.output).toEqual({ text: '```json\n{"n": [1e400]}\n```' });
    const deep = `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
    platform.llm.script = () => ({ text: deep });
    expect((await run(agent)).body.output).toEqual({ text: deep });
  });

  test.each([
    ["takes a number", number, '{"n": 1e400}'],
    ["takes anything", { type: "object" }, '{"n": 1e400}'],
  ])("in a call is refused: an agent that %s is not run", async (_, input_schema, args) => {
    const child = await makeAgent({ input_schema });
    const parent = await makeAgent({ tools: [{ type: "agent", agent_id: child, name: "below" }] });
    withCall("below", args);
    const { body } = await run(parent);
    expect(body.output.text).toContain(
      "The arguments are invalid, the tool was not called:\n- n: must be a number between",
    );
    expect((await platform.gantry.call("GET", `/v1/runs?parent_run_id=${body.id}`)).body.runs).toEqual([]);
  });

  test("in the input of a run is reported once per field", async () => {
    const agent = await makeAgent({ input_schema: number });
    const headers = { "content-type": "application/json", "x-api-key": platform.gantry.adminKey };
    const body = '{"input": {"n": 1e400, "m": 1e400}}';
    const answer = await fetch(`${platform.gantry.url}/v1/agents/${agent}/runs`, { method: "POST", headers, body });
    expect(answer.status).toBe(400);
    const { error } = (await answer.json()) as { error: { details: { loc: string[] }[] } };
    expect(error.details.map(({ loc }) => loc.join("."))).toEqual(["body.input.n", "body.input.m"]);
  });

  const faultsOf = async (agent: string, body: string) => {
    const headers = { "content-type": "application/json", "x-api-key": platform.gantry.adminKey };
    const answer = await fetch(`${platform.gantry.url}/v1/agents/${agent}/runs`, { method: "POST", headers, body });
    expect(answer.status).toBe(400);
    const { error } = (await answer.json()) as { error: { details: { loc: string[]; message: string }[] } };
    return error.details;
  };

  test.each(["max_cost", "timeout_seconds", "max_steps", "wait"])("as %s is reported once", async (field) => {
    const details = await faultsOf(await makeAgent(), `{"input": {}, "${field}": 1e999}`);
    expect(details).toMatchObject([{ loc: ["body", field], message: "Number is too large" }]);
  });

  test("does not hide other faults, whatever the field's name", async () => {
    const inner = { type: "object", properties: { b: { type: "integer" } } };
    const agent = await makeAgent({ input_schema: { type: "object", properties: { a: inner } } });
    const details = await faultsOf(agent, '{"input": {"a/b": 1e999, "a": {"b": "x"}}}');
    expect(details.map(({ loc }) => loc)).toEqual([
      ["body", "input", "a/b"],
      ["body", "input", "a", "b"],
    ]);
  });
});

describe("a text that cannot be stored", () => {
  test.each([
    ["NUL", "a\\u0000b"],
    ["half a character", "a\\ud800b"],
  ])("in a call is reported to the model, and neither a tool nor an agent is called: %s", async (_, text) => {
    const child = await makeAgent({ input_schema: { type: "object" } });
    const tools = ["run_javascript", { type: "agent", agent_id: child, name: "below" }];
    const calls = [
      { name: "run_javascript", args: `{"code":"'${text}'"}` },
      { name: "below", args: `{"deep":[{"${text}":1}]}` },
    ];
    platform.llm.script = inTurn({ calls }, { text: "done" });
    const { body } = await run(await makeAgent({ tools }));
    expect(body).toMatchObject({ status: "done" });
    const told = toolResults(asked().at(-1));
    expect(told).toHaveLength(2);
    for (const result of told) expect(result).toMatch(/not called:[\s\S]*cannot be stored: NUL or a lone surrogate/);
    expect((await platform.gantry.call("GET", `/v1/runs?parent_run_id=${body.id}`)).body.runs).toEqual([]);
    const path = `/v1/runs/${body.id}/trace`;
    for (const { id } of (await platform.gantry.call("GET", path)).body.steps) {
      const step = await platform.gantry.call("GET", `${path}/${id}`);
      expect(step.status, step.text).toBe(200);
    }
  });
});

describe("a forbidden field name", () => {
  test.each(['{"input": {"__proto__": 1}}', '{"input": {"constructor": {"prototype": 1}}}'])(
    "is reported: %s",
    async (body) => {
      const agent = await makeAgent();
      const headers = { "content-type": "application/json", "x-api-key": platform.gantry.adminKey };
      const answer = await fetch(`${platform.gantry.url}/v1/agents/${agent}/runs`, { method: "POST", headers, body });
      expect(answer.status).toBe(400);
      const { error } = (await answer.json()) as { error: { type: string; message: string } };
      expect(error.type).toBe("invalid_input");
      expect(error.message).toContain("__proto__");
      expect(error.message).toContain("not allowed");
    },
  );
});

const nested = (levels: number) => `{"code":"1","more":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

test.each([41, 4_000, 5_000, 200_000])(
  "arguments nested %i levels deep are reported to the model, and the run continues",
  async (levels) => {
    const wrong = { calls: [{ name: "run_javascript", args: nested(levels) }] };
    const right = { calls: [{ name: "run_javascript", args: { code: "6 * 7" } }] };
    platform.llm.script = inTurn(wrong, right, { text: "done" });
    const { body, text } = await run(await makeAgent({ tools: ["run_javascript"], context_compression: false }));
    expect(body, text).toMatchObject({ status: "done", output: { text: "done" } });
    const [refused = "", made] = toolResults(platform.llm.requests.at(-1));
    expect(refused).toContain("nested more than 40 levels deep");
    expect(refused).toContain("The tool was not called");
    expect(made).toContain("42");
  },
);

test("three times in a row they end the run like any other failing call", async () => {
  platform.llm.script = () => ({ calls: [{ name: "run_javascript", args: nested(5_000) }] });
  const { body } = await run(await makeAgent({ tools: ["run_javascript"] }));
  expect(body).toMatchObject({ status: "error", error: { type: "tool_error" } });
});

test("a sub-agent is not run with them", async () => {
  const child = await makeAgent({ input_schema: { type: "object" } });
  const parent = await makeAgent({ tools: [{ type: "agent", agent_id: child, name: "below" }] });
  platform.llm.script = inTurn({ calls: [{ name: "below", args: nested(5_000) }] }, { text: "done" });
  const { body } = await run(parent);
  expect(body).toMatchObject({ status: "done" });
  expect((await platform.gantry.call("GET", `/v1/runs?parent_run_id=${body.id}`)).body.runs).toEqual([]);
});
