import Anthropic from "@anthropic-ai/sdk";
import { beforeAll, expect, test } from "vitest";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn } from "../../support/scripted-llm.ts";

const platform = useRunsPlatform();
let client: Anthropic;
let count = 0;

beforeAll(() => {
  const { url, adminKey } = platform.gantry;
  client = new Anthropic({ baseURL: url, apiKey: adminKey, maxRetries: 0 });
});

const base = { max_tokens: 100, messages: [{ role: "user" as const, content: "Weather?" }] };

/** Publishes an agent. Returns its name as a model. */
async function publish(fields: object = {}): Promise<string> {
  await platform.makeAgent({ name: `Messenger ${++count}`, goal: "Answer {{input}}.", ...fields });
  return `agents/admin/messenger-${count}`;
}

test("an agent answers as a model, streamed and whole", async () => {
  const model = await publish();
  platform.llm.script = () => ({ text: "Sunny in Rome.", usage: { in: 100, out: 10, cached: 40 } });
  const wanted = {
    model,
    role: "assistant",
    content: [{ type: "text", text: "Sunny in Rome." }],
    stop_reason: "end_turn",
    usage: { cache_read_input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
  };
  const { data, response } = await client.messages.create({ ...base, model }).withResponse();
  expect(data).toMatchObject(wanted);
  expect(data.usage.output_tokens).toBeGreaterThan(0);
  const run = await platform.read(response.headers.get("x-gantry-run-id") ?? "");
  expect(run).toMatchObject({ status: "done", input: { input: "Weather?" } });
  expect(await client.messages.stream({ ...base, model }).finalMessage()).toMatchObject(wanted);
});

test("the tokens of a request to an agent are estimated, if the agent exists", async () => {
  const { messages } = base;
  const counted = await client.messages.countTokens({ messages, model: await publish() });
  expect(counted.input_tokens).toBeGreaterThan(0);
  await expect(client.messages.countTokens({ messages, model: "agents/admin/none" })).rejects.toMatchObject({
    status: 404,
    type: "not_found_error",
  });
  const key = await platform.gantry.newUser("confined-counter", { key: { models: ["gantry/text"] } });
  const confined = new Anthropic({ baseURL: platform.gantry.url, apiKey: key, maxRetries: 0 });
  await expect(
    confined.messages.countTokens({ messages, model: `agents/admin/messenger-${count}` }),
  ).rejects.toMatchObject({
    status: 404,
  });
});

test("a confirmation is a 409 whose message names the run, and is not repeated", async () => {
  const model = await publish({ tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] });
  platform.llm.script = inTurn({ calls: [{ name: "run_javascript", args: { code: "2" } }] });
  const error = await client.messages.create({ ...base, model }, { maxRetries: 2 }).then(
    () => expect.unreachable("not refused"),
    (thrown: unknown) => thrown as InstanceType<typeof Anthropic.APIError>,
  );
  expect(error).toMatchObject({ status: 409, type: "invalid_request_error" });
  expect(error.headers?.get("x-should-retry")).toBe("false");
  const runId = error.headers?.get("x-gantry-run-id") ?? "none";
  expect(error.apiMessage).toContain(runId);
  expect((await platform.read(runId)).phase).toBe("awaiting_confirmation");
});
