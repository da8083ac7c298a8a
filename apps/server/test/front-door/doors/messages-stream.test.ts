import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { type ChatServer, startChatServer } from "../../support/chat-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, createModels } from "../../support/models.ts";
import { inTurn, type LlmAnswer, type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let llm: ScriptedLlm;
let chat: ChatServer;
let client: Anthropic;

const pricing = { per_million_input_tokens: 1000, per_million_output_tokens: 10_000 };

beforeAll(async () => {
  llm = await startScriptedLlm();
  chat = await startChatServer();
  gantry = await startGantry();
  await createModels(gantry, {
    chat: chatModel(llm.url),
    live: chatModel(chat.url, { pricing }),
  });
  client = new Anthropic({ baseURL: gantry.url, apiKey: gantry.adminKey, maxRetries: 0 });
});

afterAll(async () => {
  expect(await verifyLedger(gantry.database)).toEqual([]);
  await gantry.close();
  await llm.close();
  await chat.close();
});

const messages = [{ role: "user" as const, content: "Hello there" }];
const base = { model: "admin/chat", max_tokens: 100, messages };
const tools = ["read", "write"].map((name) => ({ name, input_schema: { type: "object" as const } }));

/** The events and the final message that the official client makes of a streamed answer. */
async function stream(answer: LlmAnswer, fields: object = {}) {
  llm.script = inTurn(answer);
  const running = client.messages.stream({ ...base, ...fields });
  const events: Anthropic.MessageStreamEvent[] = [];
  running.on("streamEvent", (event) => void events.push(structuredClone(event)));
  const message = await running.finalMessage();
  return { events, message, headers: running.response?.headers };
}

describe("a stream", () => {
  test("of text, read by the official client", async () => {
    const { events, message, headers } = await stream({ text: "one two three", usage: { in: 20, out: 3, cached: 5 } });
    expect(message).toMatchObject({
      id: expect.stringMatching(/^msg_/),
      model: "admin/chat",
      content: [{ type: "text", text: "one two three" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 15, cache_read_input_tokens: 5, cache_creation_input_tokens: 0, output_tokens: 3 },
    });
    expect(events.filter(({ type }) => type === "message_start")).toHaveLength(1);
    const [start] = events;
    // Counted here before the call, although the model has no price.
    expect(start?.type === "message_start" && start.message.usage.input_tokens).toBeGreaterThan(1);
    expect(headers?.get("request-id")).toMatch(/\w/);
    expect(headers?.get("x-gantry-prediction-id")).toMatch(/^pred_/);
  });

  test("has named events and ends with message_stop, not with [DONE]", async () => {
    llm.script = inTurn({ text: "one two" });
    const answer = await gantry.call("POST", "/v1/messages", { json: { ...base, stream: true } });
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    const names = answer.text.match(/^event: .*$/gm)?.map((line) => line.slice(7));
    expect(names).toEqual([
      "message_start",
      "ping",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(answer.text).not.toContain("[DONE]");
  });

  test("of thoughts, text and parallel calls has each in its own block", async () => {
    const long = "x".repeat(500);
    const calls = [
      { name: "read", args: {} },
      { name: "write", args: { path: "/a", text: long } },
    ];
    const { message, events } = await stream({ reasoning: "Think first.", text: "I write.", calls }, { tools });
    expect(message.stop_reason).toBe("tool_use");
    expect(message.content).toMatchObject([
      { type: "thinking", thinking: "Think first.", signature: expect.stringMatching(/./) },
      { type: "text", text: "I write." },
      { type: "tool_use", name: "read", input: {} },
      { type: "tool_use", name: "write", input: { path: "/a", text: long } },
    ]);
    const open: number[] = [];
    for (const event of events) {
      if (event.type === "content_block_start") open.push(event.index);
      if (event.type === "content_block_delta") expect([event.index]).toEqual(open);
      if (event.type === "content_block_stop") expect(open.pop()).toBe(event.index);
      expect(open.length).toBeLessThan(2);
    }
    // Arguments arrive in pieces, not at the end.
    const pieces = events.filter((event) => event.type === "content_block_delta" && event.index === 3);
    expect(pieces.length).toBeGreaterThan(10);
  });

  test("of the built-in models needs no upstream", async () => {
    const said = await client.messages.stream({ ...base, model: "gantry/text" }).finalMessage();
    expect(said).toMatchObject({ model: "gantry/text", content: [{ type: "text" }], stop_reason: "end_turn" });
    const ruled = await client.messages.stream({ ...base, model: "gantry/rules", max_tokens: 3 }).finalMessage();
    expect(ruled).toMatchObject({ model: "gantry/rules", stop_reason: "max_tokens", usage: { output_tokens: 3 } });
    const whole = await client.messages.create({ ...base, model: "gantry/rules" });
    expect(whole.content).toMatchObject([{ type: "text", text: expect.stringMatching(/./) }]);
  });
});

const open = (signal?: AbortSignal) =>
  gantry.fetch("POST", "/v1/messages", {
    json: { ...base, model: "admin/live", stream: true },
    ...(signal && { signal }),
  });

describe("a failure", () => {
  test("before the first event is an ordinary answer", async () => {
    llm.script = inTurn({ status: 500 });
    const answer = await gantry.call("POST", "/v1/messages", { json: { ...base, stream: true } });
    expect([answer.status, answer.body.error.type, answer.headers.get("x-should-retry")]).toEqual([
      502,
      "api_error",
      "false",
    ]);
    expect(answer.body).toMatchObject({ type: "error", request_id: answer.headers.get("request-id") });
  });

  test("after the first event is an error event, at which the official client throws", async () => {
    const running = client.messages.stream({ ...base, model: "admin/live" });
    const failed = running.finalMessage().catch((error: unknown) => error);
    await waitFor("the upstream call", () => chat.open === 1);
    chat.say("one ", "two");
    await running.emitted("text");
    chat.cut();
    const error = await failed;
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect(error).toMatchObject({ type: expect.stringMatching(/^(api|overloaded)_error$/), status: undefined });
    expect((error as InstanceType<typeof Anthropic.APIError>).error).toMatchObject({
      type: "error",
      request_id: expect.stringMatching(/\w/),
    });
  });
});

describe("a client that leaves", () => {
  test("stops the upstream and pays for what was produced", async () => {
    const leave = new AbortController();
    const response = await Promise.all([
      open(leave.signal),
      waitFor("the upstream call", () => chat.open === 1).then(() => chat.say("one ", "two ", "three")),
    ]).then(([answer]) => answer);
    const id = response.headers.get("x-gantry-prediction-id");
    const reader = response.body?.getReader();
    let text = "";
    while (!text.includes("three")) text += new TextDecoder().decode((await reader?.read())?.value);
    leave.abort();
    await waitFor("the end of the upstream call", () => chat.open === 0);
    const rows = async () => (await gantry.call("GET", "/api/v2/usage")).body.results;
    await waitFor("the usage row", async () => (await rows())[0]?.request_id === id);
    const [row] = await rows();
    expect(row).toMatchObject({ door: "anthropic-messages", route: "stream", status: 499, output_tokens: 3 });
    expect(row.price).toBeGreaterThan(0);
  });
});

describe("a repeat with the same Idempotency-Key", () => {
  test.each([true, false])("gets the first answer again, streamed: %s", async (isStream) => {
    llm.script = inTurn({ reasoning: "hm", text: "only once", calls: [{ name: "read", args: { a: 1 } }] });
    const before = llm.requests.length;
    const headers = { "idempotency-key": `again-${isStream}` };
    const params = { ...base, tools };
    const ask = () =>
      isStream
        ? client.messages.stream(params, { headers }).finalMessage()
        : client.messages.create(params, { headers });
    const [first, second] = [await ask(), await ask()];
    expect(second.content).toEqual(first.content);
    expect(second).toMatchObject({ id: first.id, stop_reason: "tool_use", usage: { output_tokens: 10 } });
    expect(llm.requests).toHaveLength(before + 1);
  });
});
