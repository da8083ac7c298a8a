import { expect, it } from "vitest";
import { sentenceIn } from "./request-sentence.rules.ts";

it.each<[who: string, status: number, body: unknown, sentence: string]>([
  [
    "OpenAI",
    400,
    { error: { message: "This model's maximum context length is 8192 tokens.", code: "x" } },
    "This model's maximum context length is 8192 tokens.",
  ],
  [
    "Anthropic",
    400,
    { type: "error", error: { type: "invalid_request_error", message: "prompt is too long" } },
    "prompt is too long",
  ],
  ["Anthropic's stream", 400, { type: "invalid_request_error", message: "prompt is too long" }, "prompt is too long"],
  [
    "Anthropic's proxy",
    413,
    { error: { message: "Request exceeds the maximum size" } },
    "Request exceeds the maximum size",
  ],
  [
    "Google",
    400,
    [{ error: { code: 400, message: "Unable to process input image." } }],
    "Unable to process input image.",
  ],
  ["Ollama", 400, { error: "invalid image input" }, "invalid image input"],
  ["vLLM", 400, { object: "error", message: "top_p must be in (0, 1]" }, "top_p must be in (0, 1]"],
  ["FastAPI", 422, { detail: [{ loc: ["body", "n"], msg: "Input should be 1" }] }, "Input should be 1"],
])("reads the sentence of %s", (_, status, body, sentence) => {
  expect(sentenceIn(status, JSON.stringify(body))).toBe(sentence);
});

it.each([
  [401, "prompt is too long"],
  [404, "no such path"],
  [429, "slow down"],
  [500, "prompt is too long"],
  [400, "API key not valid. Please pass a valid API key."],
  [400, "Your credit balance is too low to access the API."],
  [400, "Your organization has been disabled."],
  [400, "The model `secret-7b` does not exist"],
  [400, ""],
])("hides what is not about the request: %i %s", (status, message) => {
  expect(sentenceIn(status, JSON.stringify({ error: { message } }))).toBeUndefined();
});

it("hides bodies that are not JSON, and JSON without a sentence", () => {
  for (const body of [
    "<html>prompt is too long</html>",
    "prompt is too long",
    "{}",
    "[]",
    "null",
    '{"error":{}}',
    '{"error":7}',
  ])
    expect(sentenceIn(400, body)).toBeUndefined();
});

it("hides addresses", () => {
  const message = "cannot read http://10.1.2.3:80/a?b=c or 10.0.0.7:5432 or db-7.corp:99, says v1.2";
  expect(sentenceIn(400, JSON.stringify({ error: { message } }))).toBe(
    "cannot read [hidden] or [hidden] or [hidden], says v1.2",
  );
});

it("is at most 1,000 characters long and one line, also if the body was cut", () => {
  const message = `too long:\n${"x\\ \u0000".repeat(2000)}`;
  const body = JSON.stringify({ error: { message } });
  for (const text of [body, body.slice(0, 8192)]) {
    const sentence = sentenceIn(400, text);
    expect(sentence).toHaveLength(1000);
    expect(sentence).toMatch(/^too long: x\\ x\\ /);
  }
});
