import { Agent, OpenAIProvider, Runner, tool } from "@openai/agents";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  type ClientsUnderTest,
  jsonQuestion,
  models,
  startForClients,
  weather,
  weatherQuestion,
} from "./clients.fixture.ts";

let clients: ClientsUnderTest;
beforeAll(async () => {
  clients = await startForClients();
});
afterAll(() => clients.close());

describe.each([
  ["Responses", "openai-responses", true],
  ["Chat Completions", "openai-chat", false],
])("the OpenAI Agents SDK on %s", (_, door, useResponses) => {
  const runnerOf = (apiKey: string) =>
    new Runner({
      modelProvider: new OpenAIProvider({ baseURL: clients.base, apiKey, useResponses }),
      tracingDisabled: true,
    });
  const weatherAgent = (model: string, cities: string[]) =>
    new Agent({
      name: "Forecaster",
      instructions: "You know the weather.",
      model,
      tools: [
        tool({
          name: "get_weather",
          description: "The weather of a city",
          parameters: z.object({ city: z.string() }),
          execute: async ({ city }) => {
            cities.push(city);
            return "12 degrees";
          },
        }),
      ],
    });

  test.each(models)("an agent on %s uses its tool", async (model) => {
    const apiKey = await clients.gantry.newUser(`runner-${door}-${model.replace("/", "-")}`);
    const cities: string[] = [];
    const { finalOutput } = await runnerOf(apiKey).run(weatherAgent(model, cities), weatherQuestion);
    expect(cities).toEqual(["Oslo"]);
    expect(finalOutput).toContain("12 degrees");
    expect(await clients.doorsOf(apiKey)).toEqual([door, door]);
  });

  test.each(models)("a streamed agent on %s uses its tool", async (model) => {
    const apiKey = await clients.gantry.newUser(`streamer-${door}-${model.replace("/", "-")}`);
    const cities: string[] = [];
    const run = await runnerOf(apiKey).run(weatherAgent(model, cities), weatherQuestion, { stream: true });
    let streamed = "";
    for await (const piece of run.toTextStream({ compatibleWithNodeStreams: true })) streamed += piece;
    await run.completed;
    expect(cities).toEqual(["Oslo"]);
    expect(streamed).toContain("12 degrees");
    expect(run.finalOutput).toBe(streamed);
    expect(await clients.doorsOf(apiKey)).toEqual([door, door]);
  });

  test.each(models)("an agent on %s answers with an object", async (model) => {
    const apiKey = await clients.gantry.newUser(`object-${door}-${model.replace("/", "-")}`);
    const outputType = z.object({ city: z.string(), degrees: z.number() });
    const agent = new Agent({ name: "Reader", instructions: "Read.", model, outputType });
    expect((await runnerOf(apiKey).run(agent, jsonQuestion)).finalOutput).toEqual(weather);
  });
});
