import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { embedMany, generateImage, generateText, isStepCount, Output, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  type EmbeddingServer,
  startOpenAiEmbeddings,
  vectorOf,
} from "../../../src/engines/models/test-upstreams/embedding-server.ts";
import {
  type ClientsUnderTest,
  jsonQuestion,
  models,
  startForClients,
  weather,
  weatherQuestion,
} from "./clients.fixture.ts";

let clients: ClientsUnderTest;
let embeddings: EmbeddingServer;
let key: string;

beforeAll(async () => {
  embeddings = await startOpenAiEmbeddings("sk-secret-4711");
  const backend = { type: "openai-embeddings", url: `${embeddings.url}/v1`, model: "m-1", secret: "upstream" };
  clients = await startForClients({ embed: { kind: "embedding", visibility: "public", capacity: 4, backend } });
  key = await clients.gantry.newUser("ai-sdk");
});
afterAll(async () => {
  await clients.close();
  await embeddings.close();
});

const openai = (apiKey = key) => createOpenAI({ baseURL: clients.base, apiKey });
const compatible = (apiKey = key) =>
  createOpenAICompatible({
    name: "gantry",
    baseURL: clients.base,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });

const providers = [
  ["openai, its default", "openai-responses", (name: string, apiKey: string) => openai(apiKey)(name)],
  ["openai with .chat", "openai-chat", (name: string, apiKey: string) => openai(apiKey).chat(name)],
  ["openai-compatible", "openai-chat", (name: string, apiKey: string) => compatible(apiKey)(name)],
  [
    "anthropic",
    "anthropic-messages",
    (name: string, apiKey: string) => createAnthropic({ baseURL: clients.base, apiKey })(name),
  ],
] as const;

describe.each(providers)("the AI SDK with %s", (_, door, modelOf) => {
  describe.each(models)("and %s", (name) => {
    test("answers a question", async () => {
      const { text, finishReason, usage, response } = await generateText({
        model: modelOf(name, key),
        prompt: "What is 6 * 7?",
      });
      expect([text, finishReason]).toEqual(["6 * 7 = 42", "stop"]);
      expect(usage.inputTokens).toBeGreaterThan(0);
      expect(usage.outputTokens).toBeGreaterThan(0);
      expect(response.modelId).toBe(name);
    });

    test("streams, calls a tool and answers with its result", async () => {
      const cities: string[] = [];
      const apiKey = await clients.gantry.newUser(`tools-${door}-${name.replace("/", "-")}`);
      const { fullStream, text, steps, usage } = streamText({
        model: modelOf(name, apiKey),
        prompt: weatherQuestion,
        tools: {
          get_weather: tool({
            description: "The weather of a city",
            inputSchema: z.object({ city: z.string() }),
            execute: async ({ city }) => {
              cities.push(city);
              return { weather: "12 degrees" };
            },
          }),
        },
        stopWhen: isStepCount(3),
      });
      const failures: unknown[] = [];
      for await (const part of fullStream) if (part.type === "error") failures.push(part.error);
      expect(failures).toEqual([]);
      expect(cities).toEqual(["Oslo"]);
      expect(await text).toContain("12 degrees");
      expect((await steps).map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"]);
      expect((await usage).outputTokens).toBeGreaterThan(0);
      expect(await clients.doorsOf(apiKey)).toEqual([door, door]);
    });

    test("answers with an object of a schema", async () => {
      const { output } = await generateText({
        model: modelOf(name, key),
        prompt: jsonQuestion,
        output: Output.object({ schema: z.object({ city: z.string(), degrees: z.number() }) }),
      });
      expect(output).toEqual(weather);
    });
  });
});

test.each([
  ["openai", () => openai().embedding("admin/embed")],
  ["openai-compatible", () => compatible().embeddingModel("admin/embed")],
])("the AI SDK embeds texts with %s", async (_, modelOf) => {
  const values = ["a lighthouse", "the sea"];
  const { embeddings: found, usage } = await embedMany({ model: modelOf(), values });
  expect(found).toEqual(values.map((text) => vectorOf(text, 4)));
  expect(usage.tokens).toBe(8);
});

test("the AI SDK paints", async () => {
  const { image } = await generateImage({
    model: openai().image("gantry/image"),
    prompt: "a lighthouse at dawn",
    size: "1280x720",
  });
  expect(Buffer.from(image.uint8Array).subarray(0, 3).toString("hex")).toBe("ffd8ff");
});
