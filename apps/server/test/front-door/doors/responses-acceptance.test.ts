import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openaiClient } from "../../support/agent-chats.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { agentModel, createModels } from "../../support/models.ts";
import { inTurn, type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";

/** The cases that Open Responses lists for servers, and the events of a stream, with the official client. */
let gantry: GantryNode;
let llm: ScriptedLlm;
let client: OpenAI;
const model = "admin/llm";
const weather: OpenAI.Responses.FunctionTool = {
  type: "function",
  name: "get_weather",
  description: "The weather of a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  strict: false,
};
const png =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR4nGNgYGD4TyIa1TCqYfhqAAAQ2P8BNUYSVgAAAABJRU5ErkJggg==";

beforeAll(async () => {
  llm = await startScriptedLlm();
  gantry = await startGantry();
  await createModels(gantry, { llm: agentModel(llm.url) });
  client = openaiClient(gantry, gantry.adminKey);
}, 60_000);

afterAll(async () => {
  await gantry.close();
  await llm.close();
});

const lastMessages = () => llm.requests.at(-1)?.messages;

async function eventsOf(body: Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, "stream">) {
  const stream = client.responses.stream(body);
  const events: OpenAI.Responses.ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return { events, types: events.map(({ type }) => type), final: await stream.finalResponse() };
}

test("a basic answer has every field that clients require", async () => {
  llm.script = () => ({ text: "Hello there.", usage: { in: 20, out: 3, cached: 5 } });
  const { data, response } = await client.responses.create({ model, input: "Say hello." }).withResponse();
  expect(data).toMatchObject({
    object: "response",
    status: "completed",
    model,
    output_text: "Hello there.",
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    store: true,
    usage: {
      input_tokens: 20,
      input_tokens_details: { cached_tokens: 5, cache_write_tokens: 0 },
      output_tokens: 3,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 23,
    },
  });
  expect(data.id).toMatch(/^resp_[0-9a-z]{26}$/);
  expect(data.output).toMatchObject([
    { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", annotations: [] }] },
  ]);
  expect(response.headers.get("x-gantry-prediction-id")).toBe(data.id.replace("resp", "pred"));
  expect(Number(response.headers.get("x-gantry-cost"))).toBeGreaterThan(0);
});

test("a streamed answer is the protocol's sequence of events", async () => {
  llm.script = () => ({ text: "One two.", usage: { in: 20, out: 2 } });
  const { events, types, final } = await eventsOf({ model, input: "Count." });
  expect(types).toEqual([
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
  expect(final).toMatchObject({ status: "completed", output_text: "One two." });
  expect(final.usage).toMatchObject({ input_tokens: 20, output_tokens: 2, total_tokens: 22 });
});

test("every event has its name, and nothing follows the last", async () => {
  llm.script = () => ({ text: "Hi." });
  const answer = await gantry.call("POST", "/v1/responses", { json: { model, input: "Hi", stream: true } });
  const blocks = answer.text.split("\n\n").filter((block) => block !== "");
  for (const block of blocks) {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
    expect(JSON.parse(data ?? "").type).toBe(name);
  }
  expect(blocks.at(-1)).toContain("event: response.completed");
  expect(answer.text).not.toContain("[DONE]");
});

test("instructions and leading developer messages are one system prompt", async () => {
  llm.script = () => ({ text: "Ahoy." });
  await client.responses.create({
    model,
    instructions: "Be a pirate.",
    input: [
      { role: "developer", content: "Be brief." },
      { type: "message", role: "system", content: [{ type: "input_text", text: "Be kind." }] },
      { role: "user", content: "Hello." },
    ],
  });
  expect(lastMessages()).toEqual([
    { role: "system", content: "Be a pirate.\n\nBe brief.\n\nBe kind." },
    { role: "user", content: "Hello." },
  ]);
});

describe("tools", () => {
  const calls = [{ name: "get_weather", args: { city: "Rome" } }];

  test("a call is an item, and its result continues the conversation", async () => {
    llm.script = inTurn({ calls }, { text: "Sunny." });
    const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "Weather in Rome?" }];
    const first = await client.responses.create({ model, input, tools: [weather], store: false });
    const call = first.output.find((item) => item.type === "function_call");
    expect(first.output).toHaveLength(1);
    expect(call).toMatchObject({ name: "get_weather", arguments: '{"city":"Rome"}', status: "completed" });
    expect(call?.id).toMatch(/^fc_/);
    const output = { type: "function_call_output" as const, call_id: call?.call_id ?? "", output: "25 degrees" };
    const second = await client.responses.create({
      model,
      input: [...input, ...(first.output as OpenAI.Responses.ResponseInput), output],
      tools: [weather],
    });
    expect(second.output_text).toBe("Sunny.");
    expect(lastMessages()).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: call?.call_id, function: { name: "get_weather" } }] },
      { role: "tool", tool_call_id: call?.call_id, content: "25 degrees" },
    ]);
  });

  test("a streamed call arrives in pieces", async () => {
    llm.script = () => ({ text: "Let me look.", calls: [...calls, { name: "get_weather", args: { city: "Oslo" } }] });
    const { types, final, events } = await eventsOf({ model, input: "Weather?", tools: [weather] });
    const pieces = events.filter((event) => event.type === "response.function_call_arguments.delta");
    expect(pieces.map(({ delta }) => delta).join("")).toBe('{"city":"Rome"}{"city":"Oslo"}');
    expect(types.filter((type) => type === "response.function_call_arguments.done")).toHaveLength(2);
    expect(types.at(-1)).toBe("response.completed");
    expect(final.output.map(({ type }) => type)).toEqual(["message", "function_call", "function_call"]);
    const ids = final.output.map((item) => ("call_id" in item ? item.call_id : ""));
    expect(new Set(ids).size).toBe(3);
  });

  test("a result with parts and a choice of a tool reach the model", async () => {
    llm.script = () => ({ text: "Fine." });
    const parts = [{ type: "input_text" as const, text: "25" }];
    await client.responses.create({
      model,
      input: [
        { role: "user", content: "Weather?" },
        { type: "function_call", call_id: "call_a", name: "get_weather", arguments: "{}" },
        { type: "function_call_output", call_id: "call_a", output: parts },
      ],
      tools: [weather],
      tool_choice: { type: "function", name: "get_weather" },
      parallel_tool_calls: false,
    });
    expect(lastMessages()?.at(-1)).toMatchObject({ role: "tool", content: "25" });
    expect(llm.requests.at(-1)).toMatchObject({
      tool_choice: { type: "function", function: { name: "get_weather" } },
      parallel_tool_calls: false,
    });
  });

  test("a custom tool takes text", async () => {
    llm.script = () => ({ calls: [{ name: "apply_patch", args: { input: "*** Begin\nPatch" } }] });
    const tool: OpenAI.Responses.CustomTool = { type: "custom", name: "apply_patch", description: "Edit files" };
    const { final, types } = await eventsOf({ model, input: "Edit.", tools: [tool] });
    expect(final.output).toMatchObject([{ type: "custom_tool_call", name: "apply_patch", input: "*** Begin\nPatch" }]);
    expect(types).toContain("response.custom_tool_call_input.done");
    const [call] = final.output;
    if (call?.type !== "custom_tool_call") throw new Error("not a call of a custom tool");
    llm.script = () => ({ text: "Edited." });
    const result = { type: "custom_tool_call_output" as const, call_id: call.call_id, output: "done" };
    await client.responses.create({ model, previous_response_id: final.id, input: [result], tools: [tool] });
    expect(lastMessages()).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ function: { arguments: '{"input":"*** Begin\\nPatch"}' } }] },
      { role: "tool", content: "done" },
    ]);
  });
});

test("an image reaches the model", async () => {
  llm.script = () => ({ text: "A square." });
  const content: OpenAI.Responses.ResponseInputContent[] = [
    { type: "input_text", text: "What is this?" },
    { type: "input_image", image_url: png, detail: "auto" },
  ];
  expect((await client.responses.create({ model, input: [{ role: "user", content }] })).output_text).toBe("A square.");
  expect(JSON.stringify(lastMessages())).toContain('"image_url":{"url":"data:image/png;base64,');
});

test("a conversation of several turns in the input keeps its roles", async () => {
  llm.script = () => ({ text: "Blue." });
  await client.responses.create({
    model,
    input: [
      { role: "user", content: "My favourite colour is blue." },
      {
        type: "message",
        role: "assistant",
        id: "msg_1",
        status: "completed",
        content: [{ type: "output_text", text: "Noted.", annotations: [] }],
      },
      { role: "user", content: "Which is it?" },
    ],
  });
  expect(lastMessages()?.map(({ role, content }) => [role, content])).toEqual([
    ["user", "My favourite colour is blue."],
    ["assistant", "Noted."],
    ["user", "Which is it?"],
  ]);
});

test("formats, limits and hints reach the model", async () => {
  llm.script = () => ({ text: '{"a":1}', finish: "length" });
  const schema = {
    type: "object",
    properties: { a: { type: "number" } },
    required: ["a"],
    additionalProperties: false,
  };
  const response = await client.responses.create({
    model,
    input: "JSON, please.",
    max_output_tokens: 77,
    temperature: 0.5,
    top_p: 0.9,
    reasoning: { effort: "low", summary: "auto" },
    text: { format: { type: "json_schema", name: "a", schema }, verbosity: "low" },
    prompt_cache_key: "cache",
    metadata: { tag: "x" },
  });
  expect(llm.requests.at(-1)).toMatchObject({
    max_tokens: 77,
    temperature: 0.5,
    top_p: 0.9,
    reasoning_effort: "low",
    verbosity: "low",
    prompt_cache_key: "cache",
    response_format: { type: "json_schema" },
  });
  expect(response).toMatchObject({
    status: "incomplete",
    incomplete_details: { reason: "max_output_tokens" },
    max_output_tokens: 77,
    temperature: 0.5,
    metadata: { tag: "x" },
    text: { format: { type: "json_schema" } },
  });
});
