import { describe, expect, test } from "vitest";
import { useRunsPlatform } from "../support/runs-platform.ts";
import { waitFor } from "../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, run, newUser } = platform;
const asked = () => platform.llm.requests;

describe("an input that cannot be checked in time", () => {
  test("is refused alone: what others send to the same agent is taken at once", async () => {
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
    const wrong = await run(agent, { input: { email: "nobody" } }, { key: another.key });
    expect(wrong.body.error).toMatchObject({ type: "invalid_input", message: expect.stringContaining("pattern") });

    const before = performance.now();
    const again = await run(agent, hostile, { key: one.key });
    expect(again.status).toBe(400);
    expect(performance.now() - before).toBeLessThan(900);
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
    // Each good one at the first try.
    expect(asked().filter(({ messages }) => messages[1]?.content?.includes("good"))).toHaveLength(2);
  });

  test("that is nested deeper than any stack fails its run and nothing else", async () => {
    platform.llm.script = () => ({ text: `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}` });
    const answer = await run(await makeAgent({ output_schema: { type: "object" } }));
    expect(answer.body, answer.text).toMatchObject({ status: "error", error: { type: "internal" } });
    expect(answer.body.error.message).toContain("Nested too deeply");
  });
});
