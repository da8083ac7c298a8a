import { expect, test } from "vitest";
import { answering } from "../../../src/engines/models/test-upstreams/text-upstream.ts";
import { useDoorsPlatform } from "../../support/doors-platform.ts";

const platform = useDoorsPlatform();
const question = [{ role: "user" as const, content: "Say hello." }];
const usage = { input: 9, output: 5, cached: 4 };
const weather = { type: "function" as const, function: { name: "get_weather", parameters: { type: "object" } } };

test.each(["native", "translated"] as const)("%s: a completion that is not streamed", async (way) => {
  platform[way].play(answering({ text: ["Hel", "lo."], reasoning: ["Hm."], usage }));
  const { data, response } = await platform
    .openai()
    .chat.completions.create({ model: `admin/${way}`, messages: question })
    .withResponse();
  expect(data).toMatchObject({
    object: "chat.completion",
    model: `admin/${way}`,
    choices: [
      { index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hello.", reasoning_content: "Hm." } },
    ],
    usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14, prompt_tokens_details: { cached_tokens: 4 } },
  });
  expect(data.id).toMatch(/^chatcmpl-/);
  expect(response.headers.get("x-gantry-prediction-id")).toMatch(/^pred_/);
  expect(Number(response.headers.get("x-gantry-cost"))).toBeGreaterThan(0);
  expect(response.headers.get("x-request-id")).toBeTruthy();
});

test("tool calls without text have the content null", async () => {
  const call = { id: "call_a", name: "get_weather", arguments: '{"city":"Oslo"}' };
  platform.translated.play(answering({ toolCalls: [call], usage }));
  const { choices } = await platform.openai().chat.completions.create({
    model: "admin/translated",
    messages: question,
    tools: [weather],
  });
  expect(choices[0]).toMatchObject({
    finish_reason: "tool_calls",
    message: {
      content: null,
      refusal: null,
      tool_calls: [{ id: "call_a", type: "function", function: { name: "get_weather", arguments: '{"city":"Oslo"}' } }],
    },
  });
});

test("arguments that are not JSON reach the client as the model wrote them", async () => {
  platform.translated.play(answering({ toolCalls: [{ id: "a", name: "get_weather", arguments: '{"city":' }], usage }));
  const { choices } = await platform.openai().chat.completions.create({
    model: "admin/translated",
    messages: question,
    tools: [weather],
  });
  expect(choices[0]?.message.tool_calls).toMatchObject([{ function: { arguments: '{"city":' } }]);
});

test("a conversation with thoughts and tools goes on in the next request", async () => {
  const call = { id: "call_a", name: "get_weather", arguments: '{"city":"Oslo"}' };
  platform.translated.play(
    answering({ toolCalls: [call], reasoning: ["Hm."], usage }),
    answering({ text: ["Cold."], usage }),
  );
  const client = platform.openai();
  const first = await client.chat.completions.create({
    model: "admin/translated",
    messages: question,
    tools: [weather],
  });
  const message = first.choices[0]?.message;
  const second = await client.chat.completions.create({
    model: "admin/translated",
    messages: [...question, message as never, { role: "tool", tool_call_id: "call_a", content: "-3 °C" }],
    tools: [weather],
  });
  expect(second.choices[0]?.message.content).toBe("Cold.");
});

test("usage records name the door, the route and the model", async () => {
  const key = await platform.gantry.newUser("recorded");
  platform.native.play(answering({ text: ["A"], usage: { input: 9, output: 5 } }));
  platform.translated.play(answering({ text: ["A"], usage: { input: 9, output: 5 } }));
  const client = platform.openai(key);
  for (const model of ["admin/native", "admin/translated"]) {
    await client.chat.completions.create({ model, messages: question });
    await client.chat.completions.stream({ model, messages: question }).finalContent();
  }
  const { body } = await platform.gantry.call("GET", "/api/v2/usage", { key });
  const rows = body.results;
  expect(rows).toHaveLength(4);
  for (const row of rows)
    expect(row).toMatchObject({ door: "openai-chat", input_tokens: 9, output_tokens: 5, price: 0.000059 });
  expect(rows.map(({ route }: { route: string }) => route).sort()).toEqual(["stream", "stream", "sync", "sync"]);
});

test("an alias answers under its own name, and is charged as its model", async () => {
  const made = await platform.gantry.call("PUT", "/api/v2/aliases/gpt-4o", { json: { model: "admin/translated" } });
  expect(made.status).toBe(201);
  platform.translated.play(answering({ text: ["A"], usage }));
  const completion = await platform.openai().chat.completions.create({ model: "gpt-4o", messages: question });
  expect(completion.model).toBe("gpt-4o");
});

test("the built-in models answer", async () => {
  for (const model of ["gantry/text", "gantry/rules"]) {
    const completion = await platform.openai().chat.completions.create({ model, messages: question });
    expect(completion.choices[0]?.message.content?.length).toBeGreaterThan(0);
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);
  }
});
