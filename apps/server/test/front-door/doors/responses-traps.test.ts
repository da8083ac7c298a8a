import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openaiClient } from "../../support/agent-chats.ts";
import { type ChatServer, startChatServer } from "../../support/chat-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { agentModel, createModels } from "../../support/models.ts";
import { inTurn, type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let llm: ScriptedLlm;
let chat: ChatServer;
let client: OpenAI;
const model = "admin/llm";

beforeAll(async () => {
  llm = await startScriptedLlm();
  chat = await startChatServer();
  gantry = await startGantry();
  await createModels(gantry, { llm: agentModel(llm.url), live: agentModel(chat.url) });
  client = openaiClient(gantry, gantry.adminKey);
}, 60_000);

afterAll(async () => {
  await gantry.close();
  await llm.close();
  await chat.close();
});

const post = (json: object) => gantry.call("POST", "/v1/responses", { json });
const dataOf = (text: string) =>
  text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));

test("tools of an unknown type are left out, whatever they are called", async () => {
  llm.script = () => ({ text: "No tools." });
  for (const type of ["__proto__", "hasOwnProperty", "constructor", "code_interpreter"]) {
    const answer = await post({ model, input: "Hi", tools: [{ type }] });
    expect([answer.status, llm.requests.at(-1)?.tools], answer.text).toEqual([200, undefined]);
  }
});

test("a body of millions of values is refused before it is read", async () => {
  const zeros = Array(3_000_000).fill(0);
  const answer = await post({ model, input: "\u{1f600}", metadata: zeros });
  expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining("than 1000000 values")]);
  // Commas and brackets in a text do not count.
  llm.script = () => ({ text: "Read." });
  const text = JSON.stringify([...zeros.slice(0, 1_500_000), 'a quote: " and a backslash: \\']);
  expect((await post({ model, input: "Hi", metadata: { text } })).status).toBe(200);
});

test("one id, model and time in all events", async () => {
  llm.script = () => ({ text: "One two three." });
  const events = dataOf((await post({ model, input: "Hi", stream: true })).text);
  const bodies = events.flatMap(({ response }) => (response ? [response] : []));
  expect(bodies).toHaveLength(3);
  for (const field of ["id", "model", "created_at"]) expect(new Set(bodies.map((body) => body[field])).size).toBe(1);
  const items = events.flatMap(({ item_id }) => item_id ?? []);
  expect(new Set(items).size).toBe(1);
});

describe("an error", () => {
  test("after the first byte is response.failed, and the stream ends there", async () => {
    const stream = client.responses.stream({ model: "admin/live", input: "Hi" });
    const types: string[] = [];
    stream.on("event", ({ type }) => types.push(type));
    await waitFor("the upstream call", () => chat.open === 1);
    chat.say("Half ", "an ");
    await waitFor("the text", () => types.includes("response.output_text.delta"));
    chat.cut();
    const final = await stream.finalResponse();
    expect(final).toMatchObject({ status: "failed", error: { code: "server_error" } });
    expect(types.at(-1)).toBe("response.failed");
  });

  test("before it is an ordinary answer", async () => {
    llm.script = () => ({ status: 429 });
    const answer = await post({ model, input: "Hi", stream: true });
    expect(answer.status).toBe(503);
    expect(answer.headers.get("x-should-retry")).toBe("true");
    expect(answer.body.error).toMatchObject({ type: "server_error" });
  });

  test.each([
    ["conversation", { conversation: "conv_1" }, "conversation"],
    ["a prompt template", { prompt: { id: "pmpt_1" } }, "prompt"],
    ["a background response that is not stored", { background: true, store: false }, "background"],
    [
      "a file",
      { input: [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }] },
      "input[0].content[0].type",
    ],
    [
      "a result without its call",
      { input: [{ type: "function_call_output", call_id: "x", output: "" }] },
      "input[0].call_id",
    ],
    ["a role", { input: [{ role: "robot", content: "Hi" }] }, "input[0].role"],
    ["a limit", { max_output_tokens: 0 }, "max_output_tokens"],
    ["input of another type", { input: 5 }, "input"],
  ])("about %s names the field", async (_, fields, param) => {
    const answer = await post({ model, input: "Hi", ...fields });
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
  });

  test("about a model is model_not_found", async () => {
    expect((await post({ model: "admin/none", input: "Hi" })).body.error).toMatchObject({
      code: "model_not_found",
      param: "model",
    });
  });
});

test("a client that leaves stops the upstream, and pays for what was produced", async () => {
  const key = await gantry.newUser("leaver");
  const stream = openaiClient(gantry, key).responses.stream({ model: "admin/live", input: "Hi" });
  const texts: string[] = [];
  stream.on("response.output_text.delta", ({ delta }) => texts.push(delta));
  await waitFor("the upstream call", () => chat.open === 1);
  chat.say("Some ", "words ");
  await waitFor("the text", () => texts.length > 0);
  const ended = stream.done().catch(() => {});
  stream.abort();
  await waitFor("the upstream to be stopped", () => chat.open === 0, 1_000);
  await ended;
  const charged = async () =>
    (
      await gantry.database.sql`
    select 1 from usage where door = 'openai-responses' and status = 499 and price_micros > 0`
    ).length;
  await waitFor("the charge", async () => (await charged()) === 1);
});

describe("requests of coding agents", () => {
  test("tools, items and fields that are not ours are skipped", async () => {
    llm.script = () => ({ text: "Ready." });
    const answer = await post({
      model,
      instructions: "You are a coding agent.",
      input: [
        { type: "message", role: "developer", content: [{ type: "input_text", text: "<permissions>" }] },
        { type: "message", role: "user", content: [{ type: "input_text", text: "Fix it." }] },
        { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } },
        { type: "local_shell_call", call_id: "c1", status: "completed", action: { type: "exec", command: ["ls"] } },
        { type: "local_shell_call_output", call_id: "c1", output: "{}" },
        { type: "ghost_snapshot", ghost_commit: {} },
        { type: "compaction", encrypted_content: "zzz" },
      ],
      tools: [
        { type: "function", name: "shell", strict: false, parameters: { type: "object", properties: {} } },
        { type: "custom", name: "apply_patch", format: { type: "grammar", syntax: "lark", definition: "start: x" } },
        { type: "namespace", name: "mcp__a", tools: [] },
        { type: "web_search", external_web_access: false },
        { type: "image_generation", output_format: "png" },
        { type: "local_shell" },
        { type: "mcp", server_label: "a", server_url: "https://example.com" },
      ],
      tool_choice: "auto",
      parallel_tool_calls: false,
      reasoning: { effort: "medium", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      client_metadata: { session: "1" },
      prompt_cache_key: "019",
      service_tier: "auto",
      truncation: "disabled",
      text: { verbosity: "medium" },
      store: false,
      stream: true,
      brand_new_field: { a: 1 },
    });
    expect([answer.status, dataOf(answer.text).at(-1).type]).toEqual([200, "response.completed"]);
    const sent = llm.requests.at(-1);
    expect(sent?.messages).toEqual([
      { role: "system", content: "You are a coding agent.\n\n<permissions>" },
      { role: "user", content: "Fix it." },
    ]);
    expect(sent?.tools?.map((tool) => tool.function.name)).toEqual(["shell", "apply_patch"]);
  });

  test.each([{ input: [] }, { input: "" }, { input: [{ role: "developer", content: "Warm up." }], instructions: "x" }])(
    "a probe that asks nothing is answered without the model: %j",
    async (fields) => {
      const calls = llm.requests.length;
      const answer = await post({ model, ...fields });
      expect(answer.body).toMatchObject({ status: "completed", usage: { total_tokens: 0 } });
      const streamed = dataOf((await post({ model, ...fields, stream: true })).text);
      expect(streamed.at(-1).type).toBe("response.completed");
      expect(llm.requests.length).toBe(calls);
      expect((await post({ model: "admin/none", ...fields })).status).toBe(404);
    },
  );

  test("an unknown previous_response_id is a clear 404", async () => {
    const answer = await post({ model, input: "Hi", previous_response_id: "resp_unknown" });
    expect(answer.status).toBe(404);
    expect(answer.body.error).toMatchObject({ param: "previous_response_id" });
  });
});

describe("thoughts", () => {
  const tools = [{ type: "function" as const, name: "look", parameters: {}, strict: false }];
  const include: OpenAI.Responses.ResponseIncludable[] = ["reasoning.encrypted_content"];

  test("stream as a summary, also when they follow text", async () => {
    llm.script = () => ({ reasoning: "Let me think.", text: "Done." });
    const types: string[] = [];
    const stream = client.responses.stream({ model, input: "Hi" }).on("event", ({ type }) => types.push(type));
    const { output } = await stream.finalResponse();
    expect(output).toMatchObject([
      { type: "reasoning", summary: [{ type: "summary_text", text: "Let me think." }] },
      { type: "message" },
    ]);
    const names = ["part.added", "text.delta", "text.done", "part.done"];
    for (const name of names) expect(types).toContain(`response.reasoning_summary_${name}`);
    expect(types.indexOf("response.reasoning_summary_part.done")).toBeLessThan(
      types.indexOf("response.output_text.delta"),
    );
  });

  test.each([true, false])("return to the model from a client that keeps them (streamed: %s)", async (stream) => {
    llm.script = inTurn({ reasoning: "I must look.", calls: [{ name: "look", args: {} }] }, { text: "Seen." });
    const body = { model, input: "Look.", tools, include, store: false };
    const first: OpenAI.Responses.Response = stream
      ? await client.responses.stream(body).finalResponse()
      : await client.responses.create(body);
    const thought = first.output.find((item) => item.type === "reasoning");
    expect(thought?.encrypted_content).toBeTruthy();
    expect(thought?.encrypted_content).not.toContain("I must");
    const call = first.output.find((item) => item.type === "function_call");
    const history = first.output.map(({ ...item }) => item);
    const result = { type: "function_call_output" as const, call_id: call?.call_id ?? "", output: "ok" };
    await client.responses.create({
      ...body,
      input: [{ role: "user", content: "Look." }, ...(history as OpenAI.Responses.ResponseInput), result],
    });
    expect(llm.requests.at(-1)?.messages[1]).toMatchObject({ reasoning_content: "I must look." });
  });

  test("return to the model from the store, and are hidden unless asked for", async () => {
    llm.script = inTurn({ reasoning: "I must look.", calls: [{ name: "look", args: {} }] }, { text: "Seen." });
    const first = await client.responses.create({ model, input: "Look.", tools });
    expect(JSON.stringify(first)).not.toContain("encrypted_content");
    const read = await client.responses.retrieve(first.id, { include });
    expect(JSON.stringify(read)).toContain("encrypted_content");
    const call = first.output.find((item) => item.type === "function_call");
    const result = { type: "function_call_output" as const, call_id: call?.call_id ?? "", output: "ok" };
    await client.responses.create({ model, previous_response_id: first.id, input: [result], tools });
    expect(llm.requests.at(-1)?.messages[1]).toMatchObject({ reasoning_content: "I must look." });
  });

  test("of another user or server are skipped", async () => {
    llm.script = () => ({ reasoning: "Private.", text: "Hi." });
    const made = await client.responses.create({ model, input: "Hi.", include, store: false });
    const stranger = openaiClient(gantry, await gantry.newUser("thinker"));
    llm.script = () => ({ text: "Hi again." });
    const [thought] = made.output;
    if (thought?.type !== "reasoning") throw new Error("not a thought");
    const input: OpenAI.Responses.ResponseInput = [
      { role: "user", content: "Hi." },
      { ...thought, summary: [] },
      { id: "rs_x", type: "reasoning", summary: [], encrypted_content: "gAAAA" },
      { role: "assistant", content: "Hi." },
      { role: "user", content: "Again." },
    ];
    expect((await stranger.responses.create({ model, input })).output_text).toBe("Hi again.");
    expect(JSON.stringify(llm.requests.at(-1))).not.toContain("Private.");
  });
});
