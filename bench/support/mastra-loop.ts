import { callTool, goal, measureLoop, toolDescription, toolName } from "./measure-loop.ts";
import { importPeer } from "./peers.ts";

const { Agent } = await importPeer("@mastra/core/agent");
const { createTool } = await importPeer("@mastra/core/tools");
const { createOpenAICompatible } = await importPeer("@ai-sdk/openai-compatible");
const { z } = await importPeer("zod");

await measureLoop(async (base) => {
  const provider = createOpenAICompatible({ name: "mock", baseURL: base, includeUsage: true });
  const agent = new Agent({
    id: "bench",
    name: "bench",
    instructions: "Work.",
    model: provider("mock"),
    tools: {
      [toolName]: createTool({
        id: toolName,
        description: toolDescription,
        inputSchema: z.object({ method: z.string(), url: z.string() }),
        execute: (input: { url: string }) => callTool(input),
      }),
    },
  });
  const result = await agent.stream(goal, { maxSteps: 10 });
  let calls = 0;
  for await (const part of result.fullStream) if (part.type === "tool-result") calls++;
  if (calls !== 5) throw new Error(`Mastra made ${calls} calls`);
});
