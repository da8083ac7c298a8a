/**
 * The minimum cost of a loop: undici, the stream split at blank lines, JSON.parse, all messages sent with each call.
 * Without a framework, checks, prices, events or stored steps.
 */
import { request } from "undici";
import { callTool, goal, measureLoop, toolDescription, toolName } from "./measure-loop.ts";

interface Delta {
  content?: string;
  tool_calls?: { id?: string; function: { name?: string; arguments?: string } }[];
}

const properties = { method: { type: "string" }, url: { type: "string" } };
const parameters = { type: "object", properties, required: ["method", "url"] };
const tools = [{ type: "function", function: { name: toolName, description: toolDescription, parameters } }];

async function* deltasOf(base: string, messages: object[]): AsyncGenerator<Delta> {
  const { body } = await request(`${base}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "mock", stream: true, stream_options: { include_usage: true }, messages, tools }),
  });
  body.setEncoding("utf8");
  let rest = "";
  for await (const piece of body) {
    const frames = (rest + piece).split("\n\n");
    rest = frames.pop() ?? "";
    for (const frame of frames) {
      if (frame === "data: [DONE]") continue;
      const { choices } = JSON.parse(frame.slice("data: ".length)) as { choices: { delta: Delta }[] };
      if (choices[0]) yield choices[0].delta;
    }
  }
}

await measureLoop(async (base) => {
  const messages: object[] = [{ role: "user", content: goal }];
  let calls = 0;
  while (true) {
    let content = "";
    const asked = { id: "", name: "", args: "" };
    for await (const { content: words, tool_calls: part } of deltasOf(base, messages)) {
      content += words ?? "";
      asked.id += part?.[0]?.id ?? "";
      asked.name += part?.[0]?.function.name ?? "";
      asked.args += part?.[0]?.function.arguments ?? "";
    }
    if (asked.name === "") break;
    const call = { id: asked.id, type: "function", function: { name: asked.name, arguments: asked.args } };
    messages.push({ role: "assistant", content, tool_calls: [call] });
    messages.push({ role: "tool", tool_call_id: asked.id, content: await callTool(JSON.parse(asked.args)) });
    calls++;
  }
  if (calls !== 5) throw new Error(`the bare loop made ${calls} calls`);
});
