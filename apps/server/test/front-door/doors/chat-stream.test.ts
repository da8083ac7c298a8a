import { expect, test } from "vitest";
import { answering, type ScriptedAnswer } from "../../../src/engines/models/test-upstreams/text-upstream.ts";
import { eventsOf, useDoorsPlatform } from "../../support/doors-platform.ts";

/** What clients need of a stream, whether it is relayed or translated. */
const platform = useDoorsPlatform();

const question = [{ role: "user" as const, content: "Say hello." }];
const usage = { input: 9, output: 5 };
const hello: ScriptedAnswer = { text: ["Hel", "lo “you”\n", "."], usage };
const weather = { type: "function" as const, function: { name: "get_weather", parameters: { type: "object" } } };
const calls = [
  { id: "call_a", name: "get_weather", arguments: '{"city":"Oslo"}' },
  { id: "call_b", name: "get_weather", arguments: '{"city":"Rome"}' },
];

// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
type Chunk = any;

async function chunksOf(model: string, body: object = {}): Promise<{ chunks: Chunk[]; last: string | undefined }> {
  const json = { model, messages: question, stream: true, ...body };
  const answer = await platform.gantry.call("POST", "/v1/chat/completions", { json });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const events = eventsOf(answer.text);
  return { chunks: events.slice(0, -1).map((event) => JSON.parse(event)), last: events.at(-1) };
}

const textOf = (chunks: Chunk[]) => chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");

test.each(["native", "translated"] as const)("%s: the client's own helper reads text and usage", async (way) => {
  platform[way].play(answering(hello));
  const stream = platform.openai().chat.completions.stream({
    model: `admin/${way}`,
    messages: question,
    stream_options: { include_usage: true },
  });
  expect(await stream.finalContent()).toBe("Hello “you”\n.");
  const completion = await stream.finalChatCompletion();
  expect(completion).toMatchObject({
    model: `admin/${way}`,
    choices: [{ finish_reason: "stop", message: { role: "assistant" } }],
    usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
  });
});

test.each(["native", "translated"] as const)("%s: the client's own helper runs parallel tool calls", async (way) => {
  platform[way].play(answering({ toolCalls: calls, usage }));
  const stream = platform.openai().chat.completions.stream({
    model: `admin/${way}`,
    messages: question,
    tools: [weather],
  });
  const { choices } = await stream.finalChatCompletion();
  expect(choices[0]?.finish_reason).toBe("tool_calls");
  expect(choices[0]?.message.tool_calls).toMatchObject(
    calls.map(({ id, name, arguments: given }) => ({ id, function: { name, arguments: given } })),
  );
});

test.each(["native", "translated"] as const)(
  "%s: usage is in a last chunk without choices, and only if it was asked for",
  async (way) => {
    platform[way].play(answering(hello));
    const asked = await chunksOf(`admin/${way}`, { stream_options: { include_usage: true } });
    const usageChunk = asked.chunks.at(-1);
    expect(usageChunk).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
    });
    const others = asked.chunks.slice(0, -1);
    expect(others.every((chunk) => chunk.choices.length === 1 && !chunk.usage)).toBe(true);
    if (way === "translated") expect(others.every((chunk) => chunk.usage === null)).toBe(true);
    const unasked = await chunksOf(`admin/${way}`);
    expect(unasked.chunks.every((chunk) => chunk.choices.length === 1 && !("usage" in chunk))).toBe(true);
  },
);

test.each(["native", "translated"] as const)(
  "%s: the finish reason is null until the end, and tool_calls after calls",
  async (way) => {
    platform[way].play(answering({ toolCalls: calls, usage }), answering(hello));
    const { chunks } = await chunksOf(`admin/${way}`, { tools: [weather] });
    const reasons = chunks.map(({ choices }) => choices[0].finish_reason);
    expect(reasons.slice(0, -1).every((reason) => reason === null)).toBe(true);
    expect(reasons.at(-1)).toBe("tool_calls");
    const plain = await chunksOf(`admin/${way}`);
    expect(plain.chunks.map(({ choices }) => choices[0].finish_reason).filter(Boolean)).toEqual(["stop"]);
  },
);

test.each(["native", "translated"] as const)(
  "%s: parallel calls have their own index, their id once, and arguments as text",
  async (way) => {
    platform[way].play(answering({ toolCalls: calls, usage }));
    const { chunks } = await chunksOf(`admin/${way}`, { tools: [weather] });
    const parts = chunks.flatMap(({ choices }) => choices[0].delta.tool_calls ?? []);
    expect(parts.filter(({ id }) => id !== undefined)).toMatchObject([
      { index: 0, id: "call_a", type: "function", function: { name: "get_weather", arguments: "" } },
      { index: 1, id: "call_b", type: "function", function: { name: "get_weather", arguments: "" } },
    ]);
    expect(parts.every((part) => typeof part.function.arguments === "string")).toBe(true);
    const joined = [0, 1].map((index) =>
      parts.flatMap((part) => (part.index === index ? [part.function.arguments] : [])).join(""),
    );
    expect(joined).toEqual(calls.map((call) => call.arguments));
  },
);

test.each(["native", "translated"] as const)(
  "%s: id, model and time are the same in all chunks, the first has the role, [DONE] ends it",
  async (way) => {
    platform[way].play(answering(hello));
    const { chunks, last } = await chunksOf(`admin/${way}`, { stream_options: { include_usage: true } });
    const heads = new Set(chunks.map(({ id, model, created, object }) => JSON.stringify([id, model, created, object])));
    expect(heads.size).toBe(1);
    expect(chunks[0]).toMatchObject({ object: "chat.completion.chunk", model: `admin/${way}` });
    expect(chunks[0].id).toMatch(/^chatcmpl-/);
    expect(Number.isInteger(chunks[0].created)).toBe(true);
    expect(chunks.map(({ choices }) => choices[0]?.delta.role).filter(Boolean)).toEqual(["assistant"]);
    expect(chunks[0].choices[0].delta.role).toBe("assistant");
    expect(textOf(chunks)).toBe("Hello “you”\n.");
    expect(last).toBe("[DONE]");
  },
);

test.each(["native", "translated"] as const)("%s: thoughts arrive as reasoning_content", async (way) => {
  platform[way].play(answering({ reasoning: ["Hm, ", "yes."], text: ["Yes."], usage }));
  const { chunks } = await chunksOf(`admin/${way}`);
  expect(chunks.map(({ choices }) => choices[0].delta.reasoning_content ?? "").join("")).toBe("Hm, yes.");
  expect(textOf(chunks)).toBe("Yes.");
});

test.each(["native", "translated"] as const)(
  "%s: an error after the first byte is an error chunk, and no [DONE] follows",
  async (way) => {
    platform[way].play(({ response, dialect }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const first = dialect.blocks({ text: ["One", " two"], usage }).slice(0, 4);
      response.end(`${[...first, dialect.errorBlock("failed", "sk-secret-4711 broke")].join("\n\n")}\n\n`);
    });
    const json = { model: `admin/${way}`, messages: question, stream: true };
    const { text } = await platform.gantry.call("POST", "/v1/chat/completions", { json });
    const events = eventsOf(text);
    expect(JSON.parse(events.at(-1) ?? "")).toMatchObject({ error: { type: "server_error", param: null } });
    expect(text).not.toContain("[DONE]");
    expect(text).not.toContain("sk-secret");
    const stream = platform.openai().chat.completions.stream({ model: `admin/${way}`, messages: question });
    await expect(stream.finalContent()).rejects.toThrow(/service behind the model/);
  },
);

test("an answer without any text is a complete stream", async () => {
  platform.translated.play(answering({ usage }));
  const { chunks, last } = await chunksOf("admin/translated");
  expect(chunks.map(({ choices }) => [choices[0].delta, choices[0].finish_reason])).toEqual([
    [{ role: "assistant", content: "" }, null],
    [{}, "stop"],
  ]);
  expect(last).toBe("[DONE]");
});

test.each([
  ["length", "length"],
  ["refused", "content_filter"],
  ["stop_sequence", "stop"],
] as const)("an answer that ends by %s has the finish reason %s", async (stop, reason) => {
  platform.translated.play(answering({ text: ["A"], stop, usage }));
  const { chunks } = await chunksOf("admin/translated");
  expect(chunks.at(-1).choices[0].finish_reason).toBe(reason);
});

test("the built-in models stream through the official client", async () => {
  for (const model of ["gantry/text", "gantry/rules"]) {
    const stream = platform.openai().chat.completions.stream({ model, messages: question });
    const completion = await stream.finalChatCompletion();
    expect(completion.choices[0]?.message.content?.length, model).toBeGreaterThan(0);
    expect(completion.model).toBe(model);
  }
});

test("a built-in model calls a tool", async () => {
  const add = {
    type: "function" as const,
    function: {
      name: "get_weather",
      description: "The weather of a city",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  };
  const stream = platform.openai().chat.completions.stream({
    model: "gantry/rules",
    messages: [{ role: "user", content: 'What is the weather in city "Oslo"? Use get_weather.' }],
    tools: [add],
    tool_choice: "required",
  });
  const { choices } = await stream.finalChatCompletion();
  expect(choices[0]?.finish_reason).toBe("tool_calls");
  expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({ type: "function", function: { name: "get_weather" } });
});
