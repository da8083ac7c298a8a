import type OpenAI from "openai";
import { beforeAll, expect, test } from "vitest";
import { askAgent, openaiClient, streamAgent } from "../../support/agent-chats.ts";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
let client: OpenAI;
let count = 0;

beforeAll(() => {
  client = openaiClient(platform.gantry, platform.gantry.adminKey);
});

async function publish(fields: object = {}): Promise<string> {
  const name = `Streamer ${++count}`;
  await platform.makeAgent({ name, goal: "Answer {{input}}.", ...fields });
  return `agents/admin/streamer-${count}`;
}

const javascript = { name: "run_javascript", args: { code: "1 + 1" } };

test("text arrives while the model writes it", async () => {
  const agent = await publish();
  platform.llm.script = () => ({ text: "One two three", hangs: true });
  const leave = new AbortController();
  const { seen, end } = await streamAgent(client, agent, "Count.", { signal: leave.signal });
  await waitFor("the text before the end of the call", () => seen.text === "One two three");
  expect(seen.pieces.length).toBeGreaterThan(0);
  expect((await platform.read(seen.runId)).status).toBe("running");
  leave.abort();
  await end;
  expect(await platform.ended(seen.runId)).toMatchObject({ error: { type: "cancelled" } });
});

test("the streamed text is the answer, with the usage of the whole run", async () => {
  const agent = await publish();
  platform.llm.script = () => ({ text: "Hello, you.", usage: { in: 40, out: 5 } });
  const { end } = await streamAgent(client, agent, "Hi.");
  expect(await end).toMatchObject({ text: "Hello, you.", usage: { prompt_tokens: 40, completion_tokens: 5 } });
  expect((await askAgent(client, agent, "Hi.")).text).toBe("Hello, you.");
});

test("text beside tool calls stays sent, and a blank line separates it from the answer", async () => {
  const agent = await publish({ tools: ["run_javascript"] });
  const script = () => inTurn({ text: "Let me see.", calls: [javascript] }, { text: "It is 2." });
  platform.llm.script = script();
  const { end } = await streamAgent(client, agent, "What is 1 + 1?");
  expect((await end).text).toBe("Let me see.\n\nIt is 2.");
  platform.llm.script = script();
  expect((await askAgent(client, agent, "What is 1 + 1?")).text).toBe("It is 2.");
});

test("thoughts of the model and a plan arrive as reasoning", async () => {
  const agent = await publish({ instructions: { planning: "Plan first." } });
  platform.llm.script = inTurn({ text: "First this." }, { reasoning: "Hm.", text: "Done." });
  const { end } = await streamAgent(client, agent, "Go.");
  expect(await end).toMatchObject({ text: "Done.", reasoning: "First this.\n\nHm." });
});

test("an agent with a formatting instruction streams only the formatted answer", async () => {
  const agent = await publish({ instructions: { formatting: "Shout." } });
  platform.llm.script = inTurn({ text: "quiet" }, { text: "LOUD" });
  const { end } = await streamAgent(client, agent, "Go.");
  expect(await end).toMatchObject({ text: "LOUD", reasoning: "quiet" });
});

test("an agent with an output schema streams its output at the end", async () => {
  const output_schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const agent = await publish({ output_schema });
  platform.llm.script = inTurn({ text: "no json" }, { text: '{"n": "x"}' }, { text: '{"n": 2}' });
  const { end } = await streamAgent(client, agent, "Go.");
  const seen = await end;
  expect(seen).toMatchObject({ text: '{"n":2}', error: undefined });
  expect(seen.pieces).toHaveLength(1);
});

test.each([
  ["an object", '{"a": 1}', '{"a":1}'],
  ["an object in a code block", '```json\n{"a": 1}\n```', '{"a":1}'],
  ["an object with only a text", '{"text": "inner"}', "inner"],
  ["another code block", "```js\nlet a;\n```", "```js\nlet a;\n```"],
  ["text that begins with a brace", "{curly} text", "{curly} text"],
])("a streamed answer that is %s equals the whole answer", async (_, written, expected) => {
  const agent = await publish();
  platform.llm.script = () => ({ text: written });
  const { end } = await streamAgent(client, agent, "Go.");
  expect((await end).text).toBe(expected);
  expect((await askAgent(client, agent, "Go.")).text).toBe(expected);
});

test("an answer that was cut off is continued without repeated text", async () => {
  const agent = await publish();
  const first = "word ".repeat(40).trim();
  platform.llm.script = inTurn({ text: first, finish: "length" }, { text: " and the end." });
  const { end } = await streamAgent(client, agent, "Go.");
  expect((await end).text).toBe(`${first} and the end.`);
});

test("after a retry of the model, the answer is complete", async () => {
  const agent = await publish();
  const opened = gate();
  let calls = 0;
  platform.llm.script = async () => {
    calls++;
    if (calls > 1) return { text: "The same beginning, and the rest." };
    await opened.promise;
    return { status: 503, retryAfter: 0 };
  };
  const { end } = await streamAgent(client, agent, "Go.");
  opened.open();
  expect((await end).text).toBe("The same beginning, and the rest.");
});

test("characters that cannot be stored do not repeat the text", async () => {
  const agent = await publish();
  platform.llm.script = () => ({ text: "A \u0000 zero and 😀 more." });
  const { end } = await streamAgent(client, agent, "Go.");
  expect((await end).text).toBe("A \uFFFD zero and 😀 more.");
});
