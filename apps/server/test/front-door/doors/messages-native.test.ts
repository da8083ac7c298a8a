import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, createModels } from "../../support/models.ts";
import {
  blockEvents,
  eventText,
  messageEnd,
  messageStart,
  type ScriptedAnthropic,
  sendEvents,
  sendJson,
  startScriptedAnthropic,
} from "../../support/scripted-anthropic.ts";
import { inTurn, type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let upstream: ScriptedAnthropic;
let llm: ScriptedLlm;
let client: Anthropic;

const pricing = { per_million_input_tokens: 1000, per_million_cached_tokens: 100, per_million_output_tokens: 10_000 };

beforeAll(async () => {
  upstream = await startScriptedAnthropic();
  llm = await startScriptedLlm();
  gantry = await startGantry();
  const backend = { type: "anthropic", url: upstream.url, model: "claude-real" };
  await createModels(gantry, {
    claude: chatModel("", { backend, pricing, context_window: 200_000 }),
    other: chatModel(llm.url),
  });
  client = new Anthropic({ baseURL: gantry.url, apiKey: gantry.adminKey, maxRetries: 0 });
});

afterAll(async () => {
  expect(await verifyLedger(gantry.database)).toEqual([]);
  await gantry.close();
  await upstream.close();
  await llm.close();
});

const cache_control = { type: "ephemeral", ttl: "1h" };
const body = {
  model: "admin/claude",
  max_tokens: 64,
  messages: [
    { role: "user", content: [{ type: "text", text: "Hello", cache_control }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "c2lnbmVk" },
        { type: "tool_use", id: "toolu_1", name: "read", input: {}, caller: { type: "direct" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_1", content: "42" },
        { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERg==" } },
      ],
    },
  ],
  system: [{ type: "text", text: "Be brief.", cache_control }],
  tools: [
    { name: "read", input_schema: { type: "object" } },
    { type: "web_search_20260318", name: "web_search" },
  ],
  thinking: { type: "adaptive", display: "summarized" },
  context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
  new_field: { deep: [1, null, { x: "ä" }] },
};

const whole = {
  id: "msg_up",
  type: "message",
  role: "assistant",
  model: "claude-real",
  content: [
    { type: "thinking", thinking: "hm", signature: "c2lnbmVk" },
    { type: "text", text: "Done.", citations: [{ type: "char_location", cited_text: "x" }] },
  ],
  stop_reason: "pause_turn",
  stop_sequence: null,
  container: { id: "c_1" },
  usage: {
    input_tokens: 100,
    cache_creation_input_tokens: 200,
    cache_read_input_tokens: 300,
    output_tokens: 40,
    service_tier: "standard",
    new_figure: 7,
  },
};

const send = (json: object, headers: Record<string, string> = {}) =>
  gantry.call("POST", "/v1/messages", { json, headers });
const asked = () => upstream.requests.at(-1);

async function usageRow(id: string | null) {
  const rows = async () => (await gantry.call("GET", "/api/v2/usage")).body.results;
  await waitFor("the usage row", async () => (await rows())[0]?.request_id === id);
  return (await rows())[0];
}

describe("a request to a backend of type anthropic", () => {
  test("arrives unchanged except for the model's name, with the headers of the protocol", async () => {
    upstream.play = (_, response) => sendJson(response, whole);
    const headers = { "anthropic-version": "2026-10-21", "anthropic-beta": "context-1m-2025-08-07,new-2027-01-01" };
    const answer = await send(body, headers);
    expect(answer.status, answer.text).toBe(200);
    expect(asked()?.path).toBe("/v1/messages");
    expect(asked()?.body).toEqual({ ...body, model: "claude-real", stream: false });
    expect(asked()?.headers).toMatchObject(headers);
    expect(JSON.stringify(asked()?.headers)).not.toContain(gantry.adminKey);
  });

  test("gets the upstream's body with the name that was asked for", async () => {
    upstream.play = (_, response) => sendJson(response, whole);
    const answer = await send(body);
    expect(answer.body).toEqual({ ...whole, model: "admin/claude" });
    expect(answer.headers.get("request-id")).toMatch(/\w/);
    expect(Number(answer.headers.get("x-gantry-cost"))).toBeGreaterThan(0);
  });

  test("is charged with cache reads and writes, in a row that names the door", async () => {
    upstream.play = (_, response) => sendJson(response, whole);
    const answer = await send(body);
    expect(await usageRow(answer.headers.get("x-gantry-prediction-id"))).toMatchObject({
      model_name: "admin/claude",
      route: "sync",
      door: "anthropic-messages",
      status: 200,
      input_tokens: 600,
      cached_tokens: 300,
      cache_write_tokens: 200,
      output_tokens: 40,
      // 100 × 0.001 + 300 × 0.0001 + 200 × 0.00125 + 40 × 0.01
      price: 0.78,
    });
  });

  test("may fill the cache without an answer", async () => {
    upstream.play = (_, response) => sendJson(response, { ...whole, content: [], stop_reason: "max_tokens" });
    expect((await send({ ...body, max_tokens: 0 })).status).toBe(200);
    expect(asked()?.body.max_tokens).toBe(0);
  });

  test("leaves out thoughts of other models, which Anthropic has not signed", async () => {
    llm.script = inTurn({ reasoning: "private", text: "from another model" });
    const first = await client.messages.create({
      model: "admin/other",
      max_tokens: 9,
      messages: [{ role: "user", content: "Hi" }],
    });
    expect(first.content[0]).toMatchObject({ type: "thinking", thinking: "private" });
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: first.content },
      { role: "assistant", content: [first.content[0]] },
      { role: "user", content: "Go on" },
    ];
    upstream.play = (_, response) => sendJson(response, whole);
    expect((await send({ ...body, messages })).status).toBe(200);
    expect(asked()?.body.messages).toEqual([
      { role: "user", content: "Hi" },
      { role: "assistant", content: [{ type: "text", text: "from another model" }] },
      { role: "user", content: "Go on" },
    ]);
  });

  test("cannot use threads, which the upstream would hold for all users of its key", async () => {
    const before = upstream.requests.length;
    const answer = await send({ ...body, thread: { type: "continue", previous_message_id: "msg_of_another_user" } });
    expect([answer.status, answer.body.error.details.error_code]).toEqual([400, "thread_unsupported_request"]);
    expect(upstream.requests).toHaveLength(before);
  });

  test("that the upstream refuses gets its sentence", async () => {
    const message = "prompt is too long: 250000 tokens > 200000 maximum";
    upstream.play = (_, response) =>
      sendJson(response, { type: "error", error: { type: "invalid_request_error", message } }, 400);
    const answer = await send(body);
    expect([answer.status, answer.body.error.type]).toEqual([400, "invalid_request_error"]);
    expect(answer.body.error.message).toContain(message);
    expect(answer.headers.get("x-should-retry")).toBe("false");
  });
});

describe("a stream of a backend of type anthropic", () => {
  const events = [
    messageStart({ input_tokens: 100, cache_creation_input_tokens: 200, cache_read_input_tokens: 300 }, { new: [1] }),
    ...blockEvents(
      0,
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "hm" },
      { type: "signature_delta", signature: "c2lnbmVk" },
    ),
    { type: "ping" },
    ...blockEvents(1, { type: "redacted_thinking", data: "eA==" }),
    ...blockEvents(
      2,
      { type: "text", text: "" },
      ...["Grüße", ' "and" ', "more\n", "…", "{}"].map((text) => ({ type: "text_delta", text })),
      { type: "citations_delta", citation: { type: "char_location", cited_text: "x" } },
    ),
    ...blockEvents(
      3,
      { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
      { type: "input_json_delta", partial_json: '{"q":1}' },
    ),
    ...blockEvents(
      4,
      { type: "tool_use", id: "toolu_1", name: "read", input: {} },
      { type: "input_json_delta", partial_json: "" },
    ),
    { type: "event_of_tomorrow", data: { x: 1 } },
    ...messageEnd("tool_use", { output_tokens: 40 }),
  ];
  const text = eventText(...events);

  test("is passed on byte for byte, except for the model's name", async () => {
    upstream.play = (_, response) => sendEvents(response, text);
    const answer = await send({ ...body, stream: true });
    expect(answer.text).toBe(text.replace('"model":"claude-real"', '"model":"admin/claude"'));
    expect(await usageRow(answer.headers.get("x-gantry-prediction-id"))).toMatchObject({
      route: "stream",
      door: "anthropic-messages",
      input_tokens: 600,
      cached_tokens: 300,
      cache_write_tokens: 200,
      output_tokens: 40,
      price: 0.78,
    });
  });

  test("is read by the official client", async () => {
    upstream.play = (_, response) => sendEvents(response, text);
    const message = await client.messages.stream(body as unknown as Anthropic.MessageStreamParams).finalMessage();
    expect(message).toMatchObject({
      id: "msg_up",
      model: "admin/claude",
      stop_reason: "tool_use",
      content: [
        { type: "thinking", thinking: "hm", signature: "c2lnbmVk" },
        { type: "redacted_thinking", data: "eA==" },
        { type: "text", text: 'Grüße "and" more\n…{}', citations: [{ cited_text: "x" }] },
        { type: "server_tool_use", input: { q: 1 } },
        { type: "tool_use", id: "toolu_1", input: {} },
      ],
    });
  });

  test("gets the names that a server leaves out", async () => {
    const nameless = text.replace(/^event: .*\n/gm, "");
    upstream.play = (_, response) => sendEvents(response, nameless);
    const answer = await send({ ...body, stream: true });
    expect(answer.text).toBe(text.replace('"model":"claude-real"', '"model":"admin/claude"'));
  });

  test("that breaks off is an error event after what arrived", async () => {
    const opening = eventText(...events.slice(0, 3));
    upstream.play = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const overloaded = { type: "error", error: { type: "overloaded_error", message: "internal-host-7 is full" } };
      response.end(opening + eventText(overloaded));
    };
    const answer = await send({ ...body, stream: true });
    expect(answer.status).toBe(200);
    expect(answer.text.startsWith("event: message_start\n")).toBe(true);
    const last = answer.text.trimEnd().split("\n\n").at(-1) ?? "";
    expect(last).toMatch(/^event: error\n/);
    expect(JSON.parse(last.slice(last.indexOf("data: ") + 6))).toMatchObject({
      type: "error",
      error: { type: "overloaded_error" },
      request_id: answer.headers.get("request-id"),
    });
    expect(answer.text).not.toContain("internal-host-7");
  });

  test("stops after its client has left", async () => {
    upstream.brokenOffAt.length = 0;
    upstream.play = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(eventText(...events.slice(0, 10)));
    };
    const running = client.messages.stream(body as unknown as Anthropic.MessageStreamParams);
    running.on("error", () => {});
    running.on("abort", () => {});
    await running.emitted("text");
    running.abort();
    await waitFor("the end of the upstream call", () => upstream.brokenOffAt.length === 1);
  });

  test("is repeated with its signatures for the same Idempotency-Key", async () => {
    upstream.play = (_, response) => sendEvents(response, text);
    const before = upstream.requests.length;
    const headers = { "idempotency-key": "native-again" };
    const ask = () =>
      client.messages.stream(body as unknown as Anthropic.MessageStreamParams, { headers }).finalMessage();
    await ask();
    const second = await ask();
    expect(upstream.requests).toHaveLength(before + 1);
    expect(second).toMatchObject({
      model: "admin/claude",
      stop_reason: "tool_use",
      content: [
        { type: "thinking", thinking: "hm", signature: "c2lnbmVk" },
        { type: "redacted_thinking", data: "eA==" },
        { type: "text", text: 'Grüße "and" more\n…{}' },
        { type: "server_tool_use" },
        { type: "tool_use", id: "toolu_1", input: {} },
      ],
    });
  });
});
