import { callTool, goal, measureLoop, toolDescription, toolName } from "./measure-loop.ts";
import { importPeer } from "./peers.ts";

const { streamText, tool, stepCountIs } = await importPeer("ai");
const { createOpenAICompatible } = await importPeer("@ai-sdk/openai-compatible");
const { z } = await importPeer("zod");

await measureLoop(async (base) => {
  const provider = createOpenAICompatible({ name: "mock", baseURL: base, includeUsage: true });
  const inputSchema = z.object({ method: z.string(), url: z.string() });
  const result = streamText({
    model: provider("mock"),
    prompt: goal,
    tools: { [toolName]: tool({ description: toolDescription, inputSchema, execute: callTool }) },
    stopWhen: stepCountIs(10),
  });
  let calls = 0;
  for await (const part of result.fullStream) if (part.type === "tool-result") calls++;
  if (calls !== 5) throw new Error(`the AI SDK made ${calls} calls`);
});
