import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { APICallError, generateText, streamText } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ClientsUnderTest, startForClients } from "./clients.fixture.ts";

let clients: ClientsUnderTest;
let key: string;

beforeAll(async () => {
  clients = await startForClients();
  const { call, newUser } = clients.gantry;
  key = await newUser("agent-caller");
  const agent = { name: "Reckoner", goal: "Answer: {{input}}", model: "admin/openai", tools: ["run_javascript"] };
  const created = await call("POST", "/v1/agents", { key, json: agent });
  expect(created.status, created.text).toBe(201);
  const published = await call("POST", `/v1/agents/${created.body.id}/publish`, { key, json: {} });
  expect(published.status, published.text).toBe(200);
  for (const [alias, model] of [
    ["gpt-4o", "admin/claude"],
    ["my-agent", "agents/agent-caller/reckoner"],
  ]) {
    const put = await call("PUT", `/api/v2/aliases/${alias}`, { key, json: { model } });
    expect(put.status, put.text).toBe(201);
  }
});
afterAll(() => clients.close());

const names = ["agents/agent-caller/reckoner", "my-agent", "gpt-4o"];

describe.each([
  ["openai, its default", (name: string, apiKey: string) => createOpenAI({ baseURL: clients.base, apiKey })(name)],
  ["openai with .chat", (name: string, apiKey: string) => createOpenAI({ baseURL: clients.base, apiKey }).chat(name)],
  [
    "openai-compatible",
    (name: string, apiKey: string) => createOpenAICompatible({ name: "gantry", baseURL: clients.base, apiKey })(name),
  ],
  ["anthropic", (name: string, apiKey: string) => createAnthropic({ baseURL: clients.base, apiKey })(name)],
])("the AI SDK with %s", (_, modelOf) => {
  test.each(names)("speaks with %s", async (name) => {
    const { text, finishReason, response } = await generateText({
      model: modelOf(name, key),
      prompt: "What is 6 * 7?",
    });
    expect([text, finishReason]).toEqual(["6 * 7 = 42", "stop"]);
    expect(response.modelId).toBe(name);
    expect(response.headers?.[name === "gpt-4o" ? "x-gantry-prediction-id" : "x-gantry-run-id"]).toMatch(
      /^(run|pred)_/,
    );
  });

  test.each(names)("streams the text of %s", async (name) => {
    const pieces: string[] = [];
    for await (const piece of streamText({ model: modelOf(name, key), prompt: "What is 6 * 7?" }).textStream)
      pieces.push(piece);
    expect(pieces.join("")).toBe("6 * 7 = 42");
    expect(pieces.length).toBeGreaterThan(1);
  });

  test("reports an empty balance, an unknown model and a wrong key as they are", async () => {
    const poor = await clients.gantry.newUser("poor", { credit: -1 });
    const refusals: [string, string, number, string][] = [
      ["admin/openai", poor, 402, "Insufficient funds"],
      ["admin/nothing", key, 404, '"admin/nothing" does not exist'],
      ["admin/openai", "gk_wrong", 401, "key"],
    ];
    for (const [name, apiKey, status, message] of refusals) {
      const asked = generateText({ model: modelOf(name, apiKey), prompt: "Hi" });
      const error = await asked.then(
        () => expect.fail("answered"),
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(APICallError);
      expect(error).toMatchObject({ statusCode: status, isRetryable: false });
      expect((error as APICallError).message).toContain(message);
    }
  });
});

test.each(names)("LangChain speaks with %s", async (model) => {
  const chat = new ChatOpenAI({ model, apiKey: key, configuration: { baseURL: clients.base }, maxRetries: 0 });
  expect((await chat.invoke("What is 6 * 7?")).text).toBe("6 * 7 = 42");
});
