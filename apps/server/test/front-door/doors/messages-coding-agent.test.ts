import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, createModels } from "../../support/models.ts";
import {
  blockEvents,
  eventText,
  messageEnd,
  messageStart,
  type ScriptedAnthropic,
  sendEvents,
  startScriptedAnthropic,
} from "../../support/scripted-anthropic.ts";
import { inTurn, type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";

/** Requests in the form of a coding agent such as Claude Code: large, with marks for caching, and continued for many turns. */

let gantry: GantryNode;
let llm: ScriptedLlm;
let upstream: ScriptedAnthropic;
let client: Anthropic;

beforeAll(async () => {
  llm = await startScriptedLlm();
  upstream = await startScriptedAnthropic();
  gantry = await startGantry();
  const backend = { type: "anthropic", url: upstream.url, model: "claude-real" };
  await createModels(gantry, { chat: chatModel(llm.url), claude: chatModel("", { backend }) });
  client = new Anthropic({
    baseURL: gantry.url,
    // As with ANTHROPIC_AUTH_TOKEN.
    authToken: gantry.adminKey,
    apiKey: null,
    maxRetries: 0,
    defaultHeaders: { "user-agent": "agent-cli/2.1 (external, cli)", "x-app": "cli" },
  });
});

afterAll(async () => {
  await gantry.close();
  await llm.close();
  await upstream.close();
});

const cache_control = { type: "ephemeral" as const };
const stringField = (description: string) => ({ type: "string", description });
const toolNames = ["Bash", "Edit", "Glob", "Grep", "Read", "Task", "TodoWrite", "WebFetch", "Write"];
const tools = toolNames.map((name, index) => ({
  name,
  description: `${name} tool.\n\n${"A long explanation of the tool. ".repeat(40)}`,
  input_schema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object" as const,
    properties: { path: stringField("Where"), command: stringField("What"), todos: { type: "array", items: {} } },
    additionalProperties: false,
  },
  ...(index === toolNames.length - 1 && { cache_control }),
}));

const request = (model: string, messages: object[]) =>
  ({
    model,
    max_tokens: 32_000,
    system: [
      { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.4; cc_entrypoint=cli; cch=00000;" },
      { type: "text", text: "You are a coding agent that works in a terminal.", cache_control },
      { type: "text", text: `Rules:\n${"- Keep the code tidy.\n".repeat(200)}`, cache_control },
    ],
    messages,
    tools,
    metadata: { user_id: JSON.stringify({ device_id: "d-1", account_uuid: "", session_id: "s-1" }) },
    thinking: { type: "enabled", budget_tokens: 31_999 },
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    betas: ["claude-code-20250219", "interleaved-thinking-2025-05-14", "context-management-2025-06-27"],
  }) as unknown as Anthropic.Beta.MessageCreateParamsStreaming;

const reminder = "<system-reminder>\nThe list of tasks is empty.\n</system-reminder>";
const firstTurn = [
  {
    role: "user",
    content: [
      { type: "text", text: reminder },
      { type: "text", text: "Fix the failing test.", cache_control },
    ],
  },
];

/** The messages with the results of all calls of an answer. */
function continued(messages: object[], answer: Anthropic.Beta.BetaMessage, results: readonly string[]): object[] {
  const calls = answer.content.filter((block) => block.type === "tool_use");
  const content = calls.map(({ id }, index) => ({
    type: "tool_result",
    tool_use_id: id,
    content: index === 0 ? [{ type: "text", text: results[index] }] : results[index],
    ...(results[index]?.startsWith("Error") && { is_error: true }),
  }));
  const last = { type: "text", text: reminder, cache_control };
  return [...messages, { role: "assistant", content: answer.content }, { role: "user", content: [...content, last] }];
}

test("a session with a model of another protocol", async () => {
  const code = `const x = "${"y".repeat(3000)}";\n`;
  llm.script = inTurn(
    {
      reasoning: "I read both files.",
      text: "I'll look.",
      calls: [
        { name: "Read", args: { path: "/a.ts" } },
        { name: "Read", args: { path: "/b.ts" } },
      ],
    },
    { reasoning: "Now I write.", calls: [{ name: "Write", args: { path: "/a.ts", command: code } }] },
    { text: "Fixed." },
  );
  const model = "admin/chat";
  const first = await client.beta.messages.stream(request(model, firstTurn)).finalMessage();
  expect(first.content.map(({ type }) => type)).toEqual(["thinking", "text", "tool_use", "tool_use"]);
  const secondTurn = continued(firstTurn, first, ["export {}", "Error: no such file"]);
  const second = await client.beta.messages.stream(request(model, secondTurn)).finalMessage();
  expect(second.content.at(-1)).toMatchObject({
    type: "tool_use",
    name: "Write",
    input: { path: "/a.ts", command: code },
  });
  const thirdTurn = continued(secondTurn, second, ["Written"]);
  const third = await client.beta.messages.stream(request(model, thirdTurn)).finalMessage();
  expect(third).toMatchObject({ stop_reason: "end_turn", content: [{ type: "text", text: "Fixed." }] });

  const sent = llm.requests.at(-1);
  expect(sent?.tools?.map((tool) => tool.function.name)).toEqual(toolNames);
  expect(sent?.messages.map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "tool",
    "user",
    "assistant",
    "tool",
    "user",
  ]);
  expect(sent?.messages[0]?.content).toMatch(/^You are a coding agent/);
  expect(sent?.messages[4]?.content).toContain("no such file");
  const text = JSON.stringify(sent);
  for (const absent of ["cache_control", "billing-header", "device_id", "gantry.", "context_management"])
    expect(text).not.toContain(absent);
  expect(text).toContain("Fix the failing test.");
});

test("a session with a backend of type anthropic", async () => {
  const signed = { type: "signature_delta", signature: "c2lnbmVk" };
  const call = { type: "tool_use", id: "toolu_1", name: "Read", input: {} };
  upstream.play = (_, response) =>
    sendEvents(
      response,
      eventText(
        messageStart({ cache_creation_input_tokens: 5000, cache_read_input_tokens: 0 }),
        ...blockEvents(
          0,
          { type: "thinking", thinking: "", signature: "" },
          { type: "thinking_delta", thinking: "hm" },
          signed,
        ),
        ...blockEvents(1, call, { type: "input_json_delta", partial_json: '{"path":"/a.ts"}' }),
        ...messageEnd("tool_use"),
      ),
    );
  const first = await client.beta.messages.stream(request("admin/claude", firstTurn)).finalMessage();
  expect(first.usage).toMatchObject({ cache_creation_input_tokens: 5000 });
  const turn = continued(firstTurn, first, ["export {}"]);
  await client.beta.messages.stream(request("admin/claude", turn)).finalMessage();
  const { body, headers } = upstream.requests.at(-1) ?? {};
  const { betas, ...wanted } = request("claude-real", turn) as unknown as Record<string, unknown> & { betas: string[] };
  expect(body).toEqual({ ...wanted, stream: true });
  expect(body.messages[1].content[0]).toMatchObject({ type: "thinking", thinking: "hm", signature: "c2lnbmVk" });
  expect(headers?.["anthropic-beta"]).toBe(betas.join(","));
});
