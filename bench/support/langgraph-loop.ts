import { callTool, goal, measureLoop, toolDescription, toolName } from "./measure-loop.ts";
import { importPeer } from "./peers.ts";

const { createReactAgent } = await importPeer("@langchain/langgraph/prebuilt");
const { ChatOpenAI } = await importPeer("@langchain/openai");
const { tool } = await importPeer("@langchain/core/tools");
const { z } = await importPeer("zod");

await measureLoop(async (base) => {
  const llm = new ChatOpenAI({
    model: "mock",
    apiKey: "none",
    streaming: true,
    streamUsage: true,
    configuration: { baseURL: base },
  });
  const schema = z.object({ method: z.string(), url: z.string() });
  const tools = [tool(callTool, { name: toolName, description: toolDescription, schema })];
  const agent = createReactAgent({ llm, tools });
  let calls = 0;
  const options = { streamMode: "messages", recursionLimit: 50 };
  for await (const [message] of await agent.stream({ messages: [{ role: "user", content: goal }] }, options)) {
    if (message.getType() === "tool") calls++;
  }
  if (calls !== 5) throw new Error(`LangGraph made ${calls} calls`);
});
