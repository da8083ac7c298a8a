import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChatMessage } from "../chat.ts";
import { anthropicDialect } from "../test-upstreams/anthropic.dialect.ts";
import { openTextBench, picture, streaming, type TextBench } from "../test-upstreams/text-bench.ts";
import { answering } from "../test-upstreams/text-upstream.ts";
import { describeTextBackend } from "../text/backend.contract.ts";
import { describeNative } from "../text/native.contract.ts";
import { describeChatPort } from "../text/port.contract.ts";
import { createAnthropic } from "./anthropic.ts";

describeTextBackend("anthropic", anthropicDialect, createAnthropic);
describeChatPort("anthropic", anthropicDialect, createAnthropic);
describeNative(anthropicDialect, createAnthropic, "anthropic");

const usage = { input: 3, output: 2 };
const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
const tool = { name: "look_up", description: "Looks up", parameters: { type: "object" } };
const cached = { cache_control: { type: "ephemeral" } };

describe("anthropic protocol", () => {
  let bench: TextBench;
  beforeAll(async () => {
    bench = await openTextBench(anthropicDialect, createAnthropic);
  });
  afterAll(() => bench.close());

  it("writes a prediction's inputs and leaves out those that the API refuses", async () => {
    bench.play(answering({ text: ["ok"], usage }));
    await bench.run({ prompt: "Hi", system: "Be brief", temperature: 1.7, seed: 4, top_k: 5, image: picture() });
    expect(bench.sent()).toEqual({
      model: "m-1",
      max_tokens: 4096,
      stream: true,
      temperature: 1,
      top_k: 5,
      system: [{ type: "text", text: "Be brief" }],
      messages: [
        {
          role: "user",
          content: [
            { type: "image", source: { type: "base64", media_type: "image/png", data: "cGljdHVyZQ==" } },
            { type: "text", text: "Hi" },
          ],
        },
      ],
    });
  });

  it("marks prefixes that a run will send again for caching", async () => {
    bench.play(answering({ text: ["ok"], usage }));
    await bench.chat({
      messages: [
        { role: "system", content: "Be brief" },
        { role: "user", content: "Hi" },
      ],
      tools: [tool],
      maxTokens: 5,
      repeats: true,
    });
    expect(bench.sent()).toMatchObject({
      max_tokens: 5,
      system: [{ type: "text", text: "Be brief", ...cached }],
      tools: [{ name: "look_up", ...cached }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hi", ...cached }] }],
    });
    await bench.chat({ messages: [{ role: "user", content: "Hi" }] });
    expect(JSON.stringify(bench.upstream.requests.at(-1)?.body)).not.toContain("cache_control");
  });

  const read = { input_tokens: 10, cache_read_input_tokens: 200, output_tokens: 1 };
  const byAge = { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 };
  it.each<[how: string, first: object, last: object]>([
    ["as a sum", { ...read, cache_creation_input_tokens: 30 }, {}],
    ["by age", { ...read, cache_creation: byAge }, {}],
    ["in both ways", { ...read, cache_creation_input_tokens: 30, cache_creation: byAge }, {}],
    ["before the last event repeats the input", { ...read, cache_creation_input_tokens: 30 }, { input_tokens: 10 }],
  ])("counts tokens read from a cache and written to one as input, told %s", async (_, first, last) => {
    bench.play(
      streaming(
        { type: "message_start", message: { usage: first } },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ok" } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { ...last, output_tokens: 12 } },
        { type: "message_stop" },
      ),
    );
    const usage = { inputTokens: 240, outputTokens: 12, cachedTokens: 200, cacheWriteTokens: 30 };
    expect((await bench.chat()).usage).toEqual(usage);
  });

  it("sends thoughts back unchanged, before tool results", async () => {
    bench.play(
      answering({
        reasoning: ["let me ", "think"],
        text: ["I look."],
        toolCalls: [{ id: "toolu_1", name: "look_up", arguments: '{"q":1}' }],
        usage,
      }),
      answering({ text: ["done"], usage }),
    );
    const { text, toolCalls, opaque } = await bench.chat({ tools: [tool] });
    await bench.chat({
      tools: [tool],
      messages: [
        { role: "user", content: "Hello" },
        { role: "assistant", text, toolCalls, opaque },
        { role: "tool", callId: "toolu_1", name: "look_up", content: "found" },
      ],
    });
    expect((bench.sent(1).messages as unknown[])[1]).toEqual({
      role: "assistant",
      content: [
        { type: "thinking", thinking: "let me think", signature: "c2lnbmVk" },
        { type: "text", text: "I look." },
        { type: "tool_use", id: "toolu_1", name: "look_up", input: { q: 1 } },
      ],
    });
  });

  const event = (type: string, fields: object) => ({ type, ...fields });
  const start = (index: number, content_block: object) => event("content_block_start", { index, content_block });
  const piece = (index: number, fields: object) => event("content_block_delta", { index, delta: fields });
  const opening = event("message_start", { message: { usage: { input_tokens: 10, output_tokens: 1 } } });
  const closing = (stop_reason: string, output_tokens = 5) => [
    event("message_delta", { delta: { stop_reason }, usage: { output_tokens } }),
    event("message_stop", {}),
  ];

  it("sends shortened arguments with unchanged thoughts", async () => {
    const toolCalls = [{ id: "toolu_1", name: "look_up", arguments: '{"q":"a very long text"}' }];
    bench.play(answering({ reasoning: ["hm"], toolCalls, usage }), answering({ text: ["done"], usage }));
    const { text, opaque } = await bench.chat({ tools: [tool] });
    await bench.chat({
      tools: [tool],
      messages: [
        { role: "user", content: "Hello" },
        { role: "assistant", text, toolCalls: [{ id: "toolu_1", name: "look_up", arguments: { q: "a […]" } }], opaque },
        { role: "tool", callId: "toolu_1", name: "look_up", content: "found" },
      ],
    });
    expect((bench.sent(1).messages as { content: unknown }[])[1]?.content).toEqual([
      { type: "thinking", thinking: "hm", signature: "c2lnbmVk" },
      { type: "tool_use", id: "toolu_1", name: "look_up", input: { q: "a […]" } },
    ]);
  });

  it("leaves out thoughts that were cut before their signature", async () => {
    bench.play(
      streaming(
        opening,
        start(0, { type: "thinking", thinking: "", signature: "" }),
        piece(0, { type: "thinking_delta", thinking: "hm" }),
        ...closing("max_tokens"),
      ),
      answering({ text: ["done"], usage }),
    );
    const { text, toolCalls, opaque, stop } = await bench.chat();
    expect(stop).toBe("length");
    const messages = [
      { role: "user", content: "Hello" },
      { role: "assistant", text, toolCalls, opaque },
      { role: "user", content: "Go on" },
    ] satisfies ChatMessage[];
    expect((await bench.chat({ messages })).text).toBe("done");
    expect(bench.sent(1).messages).toMatchObject([{ role: "user", content: [{ text: "Hello" }, { text: "Go on" }] }]);
  });

  it("continues after a pause with the answer so far and counts both parts", async () => {
    const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
    const found = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [{ title: "T" }] };
    bench.play(
      streaming(
        opening,
        start(0, { type: "text", text: "" }),
        piece(0, { type: "text_delta", text: "I search. " }),
        start(1, search),
        piece(1, { type: "input_json_delta", partial_json: '{"query":' }),
        piece(1, { type: "input_json_delta", partial_json: '"x"}' }),
        start(2, found),
        ...closing("pause_turn", 7),
      ),
      answering({ text: ["Found."], usage: { input: 20, output: 3 } }),
    );
    const result = await bench.run({ prompt: "Hello", max_tokens: 100 });
    expect(result).toMatchObject({ output: { output: "I search. Found." } });
    expect(result.usage).toMatchObject({ inputTokens: 30, outputTokens: 10 });
    expect([bench.sent(0).max_tokens, bench.sent(1).max_tokens]).toEqual([100, 93]);
    expect((bench.sent(1).messages as unknown[]).slice(1)).toEqual([
      {
        role: "assistant",
        content: [
          { type: "text", text: "I search. " },
          { ...search, input: { query: "x" } },
          expect.objectContaining(found),
        ],
      },
    ]);
  });

  it("stops after too many pauses", async () => {
    bench.play(
      streaming(
        opening,
        start(0, { type: "text", text: "" }),
        piece(0, { type: "text_delta", text: "more " }),
        ...closing("pause_turn"),
      ),
    );
    await expect(bench.run({ prompt: "Hello" })).rejects.toMatchObject({ type: "downstream_service_error" });
    expect(bench.upstream.requests.length).toBeLessThan(20);
  });

  it("continues up to the token limit, and not at all for an agent run", async () => {
    const paused = streaming(
      opening,
      start(0, { type: "text", text: "" }),
      piece(0, { type: "text_delta", text: "more " }),
      ...closing("pause_turn", 40),
    );
    bench.play(paused);
    const result = await bench.run({ prompt: "Hello", max_tokens: 100 });
    expect(result.usage).toMatchObject({ outputTokens: 120 });
    expect(bench.upstream.requests.map(({ body }) => body.max_tokens)).toEqual([100, 60, 20]);
    bench.play(paused);
    const before = bench.upstream.requests.length;
    expect(await bench.chat({ maxTokens: 100, repeats: true })).toMatchObject({ text: "more ", stop: "length" });
    expect(bench.upstream.requests.length).toBeLessThanOrEqual(before + 1);
  });

  it("wraps an answer that is not an object in an object and unwraps it", async () => {
    const handedIn = { id: "toolu_9", name: "gantry_submit_answer", arguments: '{"value":[1,2]}' };
    bench.play(answering({ toolCalls: [handedIn], usage }));
    const list = { type: "array", items: { type: "number" } };
    expect(await bench.chat({ responseSchema: list })).toMatchObject({ text: "[1,2]", toolCalls: [], stop: "end" });
    expect(bench.sent()).toMatchObject({ tools: [{ input_schema: { type: "object", properties: { value: list } } }] });
  });

  it("sends a message without its thoughts if calls were removed", async () => {
    bench.play(answering({ text: ["ok"], usage }));
    const opaque = { protocol: "anthropic", content: [{ type: "tool_use", id: "gone", name: "x", input: {} }] };
    await bench.chat({
      messages: [
        { role: "user", content: "Hello" },
        { role: "assistant", text: "short", toolCalls: [], opaque },
        { role: "user", content: "Go on" },
      ],
    });
    expect((bench.sent().messages as unknown[])[1]).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "short" }],
    });
  });

  it("sends signed thoughts back only to the server that signed them", async () => {
    const blocks = [
      { type: "thinking", thinking: "hm", signature: "signed" },
      { type: "text", text: "short" },
    ];
    const sentBack = async (server: object) => {
      bench.play(answering({ text: ["ok"], usage }));
      const opaque = { protocol: "anthropic", ...server, content: blocks };
      await bench.chat({
        messages: [
          { role: "user", content: "Hello" },
          { role: "assistant", text: "short", toolCalls: [], opaque },
          { role: "user", content: "Go on" },
        ],
      });
      return (bench.sent().messages as { content: unknown[] }[])[1]?.content;
    };
    expect(await sentBack({ server: "another" })).toEqual([{ type: "text", text: "short" }]);
    // Stored by an earlier version.
    expect(await sentBack({})).toEqual(blocks);
  });

  it("forces the answer tool for a response schema", async () => {
    const answer = { id: "toolu_9", name: "gantry_submit_answer", arguments: '{"n":42}' };
    bench.play(answering({ text: ["Well:"], toolCalls: [answer], usage }));
    const pieces: string[] = [];
    const result = await bench.chat({ responseSchema: schema, onText: (text) => void pieces.push(text) });
    expect(result).toMatchObject({ text: '{"n":42}', toolCalls: [], stop: "end" });
    expect(pieces.at(-1)).toBe('{"n":42}');
    expect(bench.sent()).toMatchObject({
      tool_choice: { type: "tool", name: "gantry_submit_answer" },
      tools: [{ name: "gantry_submit_answer", input_schema: schema }],
    });
  });

  it("allows other tools before the answer tool", async () => {
    const call = { id: "toolu_1", name: "look_up", arguments: "{}" };
    bench.play(answering({ toolCalls: [call], usage }));
    const result = await bench.chat({ responseSchema: schema, tools: [tool] });
    expect(result).toMatchObject({ text: "", stop: "tool_calls", toolCalls: [{ name: "look_up" }] });
    expect(bench.sent().tool_choice).toEqual({ type: "any" });
  });

  it("ignores an answer submitted together with other calls", async () => {
    const calls = [
      { id: "toolu_1", name: "look_up", arguments: "{}" },
      { id: "toolu_2", name: "gantry_submit_answer", arguments: '{"n":0}' },
    ];
    bench.play(answering({ toolCalls: calls, usage }));
    const result = await bench.chat({ responseSchema: schema, tools: [tool] });
    expect(result.text).toBe("");
    expect(result.toolCalls.map((call) => call.id)).toEqual(["toolu_1"]);
  });
});
