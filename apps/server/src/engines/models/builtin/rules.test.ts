import { expect, test } from "vitest";
import { Interrupted } from "../driver.ts";
import { createRules } from "./rules.ts";

const rules = createRules();
const { signal } = new AbortController();

async function predict(prompt: string, more: Record<string, number> = {}) {
  const fragments: [string, string][] = [];
  const onFragment = (field: string, text: string) => void fragments.push([field, text]);
  const result = await rules.run({ predictionId: "pred_1", input: { prompt, ...more }, signal, onFragment });
  return { ...result, fragments };
}

test("a prediction streams word by word, counts tokens and stops at max_tokens", async () => {
  const whole = await predict("Say: one two three four five");
  expect(whole.output).toEqual({ output: "one two three four five" });
  expect(whole.fragments).toEqual(["one", " two", " three", " four", " five"].map((word) => ["output", word]));
  expect(whole.usage).toEqual({ inputTokens: 7, outputTokens: 5 });
  const cut = await predict("Say: one two three four five", { max_tokens: 3 });
  expect(cut.output).toEqual({ output: "one two three" });
  expect(cut.usage?.outputTokens).toBe(3);
});

test("an abort stops the stream and reports the tokens used so far", async () => {
  const stop = new AbortController();
  const work = rules.run({
    predictionId: "pred_1",
    input: { prompt: "Say: one two three four five" },
    signal: stop.signal,
    onFragment: (_, text) => {
      if (text === " two") stop.abort();
      return text === " two" ? new Promise(() => {}) : undefined;
    },
  });
  const error = await work.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Interrupted);
  expect(await (error as Interrupted).usage()).toEqual({ inputTokens: 7, outputTokens: 2 });
});

test("a chat ends with tool calls, with an answer, or at the token limit", async () => {
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const tools = [{ name: "get_weather", description: "The weather of a city", parameters }];
  const messages = [{ role: "user" as const, content: 'Get the weather of "Oslo"' }];
  expect(await rules.chat({ messages, tools, signal })).toMatchObject({
    stop: "tool_calls",
    toolCalls: [{ id: "call_1", name: "get_weather", arguments: { city: "Oslo" } }],
  });
  const sum = [{ role: "user" as const, content: "What is 6 * 7?" }];
  expect(await rules.chat({ messages: sum, signal })).toMatchObject({ stop: "end", text: "6 * 7 = 42" });
  expect(await rules.chat({ messages: sum, maxTokens: 1, signal })).toMatchObject({ stop: "length", text: "6" });
});

test("a chat ends before a stop text", async () => {
  const messages = [{ role: "user" as const, content: "Say: one two three four" }];
  const pieces: string[] = [];
  const onText = (text: string) => void pieces.push(text);
  const stopped = await rules.chat({ messages, signal, stop: ["", "four", "three"], onText });
  expect(stopped).toMatchObject({ stop: "stop_sequence", stopSequence: "three", text: "one two " });
  expect(pieces.join("")).toBe("one two ");
  expect(await rules.chat({ messages, signal, stop: ["five"] })).toMatchObject({ stop: "end" });
  expect(await rules.chat({ messages, signal, stop: ["four"], maxTokens: 1 })).toMatchObject({ stop: "length" });
});

test("a chat shows its tool calls, and stops when the client leaves", async () => {
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const tools = [{ name: "get_weather", description: "The weather of a city", parameters }];
  const messages = [{ role: "user" as const, content: 'Get the weather of "Oslo"' }];
  const pieces: unknown[] = [];
  await rules.chat({ messages, tools, signal, onToolCall: (piece) => void pieces.push(piece) });
  const call = { index: 0, id: "call_1", name: "get_weather" };
  expect(pieces).toEqual([
    { ...call, arguments: "" },
    { ...call, arguments: '{"city":"Oslo"}' },
  ]);
  const stop = new AbortController();
  const onToolCall = () => {
    stop.abort();
    return new Promise<void>(() => {});
  };
  await expect(rules.chat({ messages, tools, signal: stop.signal, onToolCall })).rejects.toBeInstanceOf(Interrupted);
});

test("a chat answers with a JSON object if one is asked for", async () => {
  const messages = [{ role: "user" as const, content: "What is 6 * 7?" }];
  const { text } = await rules.chat({ messages, signal, responseFormat: "json" });
  expect(JSON.parse(text)).toEqual({ answer: expect.stringContaining("42") });
});
