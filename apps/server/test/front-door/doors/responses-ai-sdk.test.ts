import { createOpenAI } from "@ai-sdk/openai";
import { Agent, tool as agentTool, OpenAIResponsesModel, run, setTracingDisabled } from "@openai/agents";
import { isStepCount, streamText, tool } from "ai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openaiClient } from "../../support/agent-chats.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { agentModel, createModels } from "../../support/models.ts";
import { inTurn, type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";

let gantry: GantryNode;
let llm: ScriptedLlm;

beforeAll(async () => {
  setTracingDisabled(true);
  llm = await startScriptedLlm();
  gantry = await startGantry();
  await createModels(gantry, { llm: agentModel(llm.url) });
}, 60_000);

afterAll(async () => {
  await gantry.close();
  await llm.close();
});

const script = () =>
  inTurn(
    { reasoning: "I need the weather.", calls: [{ name: "weather", args: { city: "Rome" } }] },
    { text: "Sunny in Rome." },
  );

test.each([true, false])("a loop with a tool in the AI SDK (stored: %s)", async (store) => {
  llm.script = script();
  const openai = createOpenAI({ baseURL: `${gantry.url}/v1`, apiKey: gantry.adminKey });
  const weather = tool({ inputSchema: z.object({ city: z.string() }), execute: async ({ city }) => `25 in ${city}` });
  const include = ["reasoning.encrypted_content" as const];
  const result = streamText({
    model: openai("admin/llm"),
    prompt: "Weather?",
    tools: { weather },
    stopWhen: isStepCount(3),
    providerOptions: { openai: { store, ...(!store && { include }) } },
  });
  let text = "";
  for await (const piece of result.textStream) text += piece;
  expect(text).toBe("Sunny in Rome.");
  expect(llm.requests.at(-1)?.messages).toMatchObject([
    { role: "user" },
    { role: "assistant", reasoning_content: "I need the weather.", tool_calls: [{ function: { name: "weather" } }] },
    { role: "tool", content: expect.stringContaining("25 in Rome") },
  ]);
});

test("a run with a tool in the Agents SDK", async () => {
  llm.script = script();
  const client = openaiClient(gantry, gantry.adminKey);
  const weather = agentTool({
    name: "weather",
    description: "The weather of a city",
    parameters: z.object({ city: z.string() }),
    execute: async ({ city }) => `25 in ${city}`,
  });
  const model = new OpenAIResponsesModel(client as never, "admin/llm");
  const agent = new Agent({ name: "Guide", instructions: "Be brief.", model, tools: [weather] });
  expect((await run(agent, "Weather?")).finalOutput).toBe("Sunny in Rome.");
});
