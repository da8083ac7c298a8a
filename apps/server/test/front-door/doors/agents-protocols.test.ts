import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, test } from "vitest";
import { askAgent, openaiClient } from "../../support/agent-chats.ts";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn } from "../../support/scripted-llm.ts";

const platform = useRunsPlatform();
let count = 0;

async function publish(fields: object = {}, owner = { name: "admin", key: platform.gantry.adminKey }): Promise<string> {
  await platform.makeAgent({ name: `Speaker ${++count}`, goal: "Answer {{input}}.", ...fields }, owner.key);
  return `agents/${owner.name}/speaker-${count}`;
}

const anthropic = (apiKey = platform.gantry.adminKey) =>
  new Anthropic({ baseURL: platform.gantry.url, apiKey, maxRetries: 0 });
const openai = (apiKey = platform.gantry.adminKey) => openaiClient(platform.gantry, apiKey);
const asked = (model: string) => ({ model, max_tokens: 100, messages: [{ role: "user" as const, content: "Go." }] });
const javascript = { name: "run_javascript", args: { code: "1" } };
const asking = [{ type: "tool", id: "run_javascript", confirm: "always" }];

describe("in Anthropic's protocol", () => {
  test("an agent answers with its output and the usage of the run", async () => {
    const agent = await publish({ input_schema: { properties: { city: { type: "string" } } } });
    platform.llm.script = () => ({ text: "Hello.", usage: { in: 40, out: 5 } });
    const metadata = { user_id: "u", city: "Rome" };
    const { data, response } = await anthropic()
      .messages.create({ ...asked(agent), system: "Be kind.", metadata })
      .withResponse();
    expect(data).toMatchObject({
      type: "message",
      model: agent,
      content: [{ type: "text", text: "Hello." }],
      stop_reason: "end_turn",
      usage: { input_tokens: 40, output_tokens: 5 },
    });
    const run = await platform.read(response.headers.get("x-gantry-run-id") ?? "");
    expect(run.input).toEqual({
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "Go." },
      ],
      input: "Go.",
      city: "Rome",
    });
  });

  test("a stream contains thoughts, text beside tool calls, and the answer, but no tool calls", async () => {
    const agent = await publish({ tools: ["run_javascript"], instructions: { planning: "Plan." } });
    platform.llm.script = inTurn(
      { text: "First this." },
      { text: "Let me see.", calls: [javascript] },
      { text: "It is 2." },
    );
    const message = await anthropic().messages.stream(asked(agent)).finalMessage();
    const texts = message.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    const thoughts = message.content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : []));
    expect([texts.join(""), thoughts.join("")]).toEqual(["Let me see.\n\nIt is 2.", "First this."]);
    expect(message).toMatchObject({ stop_reason: "end_turn", usage: { output_tokens: 30 } });
    expect(message.content.every(({ type }) => type === "text" || type === "thinking")).toBe(true);
  });

  test("a confirmation is a 409 whose message names the run", async () => {
    const agent = await publish({ tools: asking });
    platform.llm.script = inTurn({ calls: [javascript] });
    const error = await anthropic()
      .messages.create(asked(agent))
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Anthropic.APIError);
    const { status, headers, message } = error as InstanceType<typeof Anthropic.APIError>;
    expect([status, headers?.get("x-should-retry")]).toEqual([409, "false"]);
    expect(message).toContain(headers?.get("x-gantry-run-id"));
    expect(message).toContain("invalid_request_error");
  });

  test("an error after the first text is an event", async () => {
    const agent = await publish({ tools: asking });
    platform.llm.script = inTurn({ text: "May I?", calls: [javascript] });
    let text = "";
    const stream = anthropic().messages.stream(asked(agent));
    stream.on("text", (piece) => {
      text += piece;
    });
    await expect(stream.finalMessage()).rejects.toThrow("needs a confirmation");
    expect(text).toBe("May I?");
  });
});

describe("the list of models", () => {
  test("contains agents that the caller may run, in both shapes", async () => {
    const creator = await platform.newUser();
    const caller = await platform.newUser();
    const shown = await publish({ visibility: "public" }, creator);
    const hidden = await publish({}, creator);
    const inOpenai = (await openai(caller.key).models.list()).data.map(({ id }) => id);
    expect(inOpenai).toContain(shown);
    expect(inOpenai).not.toContain(hidden);
    const inAnthropic: string[] = [];
    for await (const { id } of anthropic(caller.key).models.list({ limit: 1000 })) inAnthropic.push(id);
    expect(inAnthropic).toContain(shown);
    expect(inAnthropic).not.toContain(hidden);
    expect(await openai(caller.key).models.retrieve(shown)).toMatchObject({ id: shown, owned_by: creator.name });
    await expect(openai(caller.key).models.retrieve(hidden)).rejects.toMatchObject({ status: 404 });
  });
});

test("an alias of an agent answers as the agent, under its own name", async () => {
  const agent = await publish();
  const put = await platform.gantry.call("PUT", "/api/v2/aliases/my-agent", { json: { model: agent } });
  expect(put.status, put.text).toBe(201);
  expect((await askAgent(openai(), "my-agent", "Go.")).text).toBe("done");
  const message = await anthropic().messages.create(asked("my-agent"));
  expect(message.model).toBe("my-agent");
});

test("a key limited to models runs agents that it lists, and no others", async () => {
  const [listed, other] = [await publish(), await publish()];
  const made = await platform.gantry.call("POST", "/api/v2/keys", { json: { models: [listed] } });
  expect(made.status, made.text).toBe(201);
  const confined = openai(made.body.key);
  expect((await askAgent(confined, listed, "Go.")).text).toBe("done");
  await expect(askAgent(confined, other, "Go.")).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  const ids = (await confined.models.list()).data.map(({ id }) => id);
  expect(ids).toEqual([listed]);
});
