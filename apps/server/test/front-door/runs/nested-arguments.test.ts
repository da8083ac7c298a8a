import { expect, test } from "vitest";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, toolResults } from "../../support/scripted-llm.ts";

const platform = useRunsPlatform({ context_window: 200_000 });
const { makeAgent, run } = platform;

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
