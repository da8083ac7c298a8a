import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
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
  key = await clients.gantry.newUser("langchain");
});
afterAll(async () => {
  await clients.close();
  await embeddings.close();
});

const getWeather = tool(async ({ city }: { city: string }) => `${city}: 12 degrees`, {
  name: "get_weather",
  description: "The weather of a city",
  schema: z.object({ city: z.string() }),
});

describe.each([
  ["Chat Completions", "openai-chat", false],
  ["Responses", "openai-responses", true],
])("LangChain on %s", (_, door, useResponsesApi) => {
  describe.each(models)("with %s", (model) => {
    const chat = (apiKey = key) =>
      new ChatOpenAI({ model, apiKey, configuration: { baseURL: clients.base }, useResponsesApi, maxRetries: 0 });

    test("answers a question, with its usage", async () => {
      const answer = await chat().invoke("What is 6 * 7?");
      expect(answer.text).toBe("6 * 7 = 42");
      expect(answer.usage_metadata?.output_tokens).toBeGreaterThan(0);
    });

    test("streams", async () => {
      const pieces: string[] = [];
      for await (const piece of await chat().stream("What is 6 * 7?")) pieces.push(piece.text);
      expect(pieces.join("")).toBe("6 * 7 = 42");
      expect(pieces.filter((text) => text !== "").length).toBeGreaterThan(1);
    });

    test("calls a tool and answers with its result", async () => {
      const apiKey = await clients.gantry.newUser(`chain-${door}-${model.replace("/", "-")}`);
      const bound = chat(apiKey).bindTools([getWeather]);
      const question = new HumanMessage(weatherQuestion);
      const asked = await bound.invoke([question]);
      expect(asked.tool_calls).toMatchObject([{ name: "get_weather", args: { city: "Oslo" } }]);
      const [call = expect.fail("no tool call")] = asked.tool_calls ?? [];
      const result = (await getWeather.invoke(call)) as ToolMessage;
      expect(result).toBeInstanceOf(ToolMessage);
      const answer = await bound.invoke([question, asked, result]);
      expect(answer.text).toContain("12 degrees");
      expect(await clients.doorsOf(apiKey)).toEqual([door, door]);
    });

    test("answers with an object of a schema", async () => {
      const schema = z.object({ city: z.string(), degrees: z.number() });
      expect(await chat().withStructuredOutput(schema, { method: "jsonSchema" }).invoke(jsonQuestion)).toEqual(weather);
    });
  });
});

test("LangChain embeds documents and questions", async () => {
  const embedder = new OpenAIEmbeddings({
    model: "admin/embed",
    apiKey: key,
    configuration: { baseURL: clients.base },
    maxRetries: 0,
  });
  expect(await embedder.embedDocuments(["a lighthouse", "the sea"])).toEqual([
    vectorOf("a lighthouse", 4),
    vectorOf("the sea", 4),
  ]);
  expect(await embedder.embedQuery("fog")).toEqual(vectorOf("fog", 4));
});
