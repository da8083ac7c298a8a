import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openAiChatDialect } from "../../../src/engines/models/test-upstreams/openai-chat.dialect.ts";
import { answering, TextUpstream } from "../../../src/engines/models/test-upstreams/text-upstream.ts";
import { useRunsPlatform } from "../../support/runs-platform.ts";

const platform = useRunsPlatform();
const { makeAgent, makeModel, run, types } = platform;
const output_schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
const usage = { input: 100, output: 10 };
const call = (name: string, json: string) => answering({ toolCalls: [{ id: "call_1", name, arguments: json }], usage });

describe("a model whose server does not support schemas", () => {
  const upstream = new TextUpstream({
    ...openAiChatDialect,
    problem: (body) => (body.response_format ? "This response_format type is unavailable now" : undefined),
  });
  beforeAll(async () => {
    await upstream.start();
    await makeModel("bare", { backend: { type: "openai-chat", url: upstream.url, model: "m-1" } });
  });
  afterAll(() => upstream.stop());

  test("submits its answer through a tool, and the next run offers that tool at once", async () => {
    const agent = await makeAgent({ model: "admin/bare", output_schema });
    upstream.play(call("gantry_submit_answer", '{"n":4}'));
    const first = await run(agent);
    expect(first.body, first.text).toMatchObject({ status: "done", output: { n: 4 }, usage: { input_tokens: 100 } });
    expect(upstream.requests.map(({ body }) => "response_format" in body)).toEqual([true, false]);
    // Not one of the agent's tools, so it produces no events.
    expect(await types(first.body.id)).toEqual(["planning", "completed"]);
    const second = await run(agent);
    expect(second.body, second.text).toMatchObject({ status: "done", output: { n: 4 } });
    expect(upstream.requests).toHaveLength(3);
  });

  test("is asked again with the faults of an invalid submission; called tools stay declared", async () => {
    const agent = await makeAgent({ model: "admin/bare", output_schema, tools: ["run_javascript"] });
    upstream.play(
      call("run_javascript", '{"code":"2+2"}'),
      answering({ text: ["It is four."], usage }),
      call("gantry_submit_answer", '{"n":"four"}'),
      call("gantry_submit_answer", '{"n":4}'),
    );
    const answer = await run(agent);
    expect(answer.body, answer.text).toMatchObject({ status: "done", output: { n: 4 } });
    const last = upstream.requests.at(-1)?.body as { messages: { content: string }[]; tools: unknown };
    expect(last.messages.at(-1)?.content).toContain("- n: must be of type integer");
    expect(last.tools).toMatchObject([
      { function: { name: "run_javascript" } },
      { function: { name: "gantry_submit_answer" } },
    ]);
  });
});
