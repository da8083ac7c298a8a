import type OpenAI from "openai";
import { beforeAll, expect, test } from "vitest";
import { openaiClient } from "../../support/agent-chats.ts";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn } from "../../support/scripted-llm.ts";

const platform = useRunsPlatform();
const model = "agents/admin/helper";
let client: OpenAI;

beforeAll(async () => {
  client = openaiClient(platform.gantry, platform.gantry.adminKey);
  await platform.makeAgent({ name: "Helper", goal: "Answer {{input}}." });
});

test("an agent answers, is stored, and is continued", async () => {
  platform.llm.script = inTurn({ text: "First." }, { text: "Second." });
  const { data: first, response } = await client.responses.create({ model, input: "One?" }).withResponse();
  expect(first).toMatchObject({ model, status: "completed", output_text: "First." });
  expect(response.headers.get("x-gantry-run-id")).toBe(first.id.replace("resp", "run"));
  const second = await client.responses
    .stream({ model, input: "Two?", previous_response_id: first.id })
    .finalResponse();
  expect(second.output_text).toBe("Second.");
  const run = await platform.read(second.id.replace("resp", "run"));
  expect(run.input).toEqual({ input: "Two?", messages: [{ role: "user", content: "Two?" }] });
  expect(JSON.stringify(platform.llm.requests[1]?.messages)).toMatch(/One\?.*First\..*Answer Two\?/);
  expect((await client.responses.retrieve(second.id)).output_text).toBe("Second.");
});

test("an agent does not answer in the background", async () => {
  const made = client.responses.create({ model, input: "One?", background: true });
  await expect(made).rejects.toMatchObject({ status: 400, param: "background" });
});
