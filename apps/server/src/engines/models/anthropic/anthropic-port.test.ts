import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createNet } from "../../net/create-net.ts";
import type { ChatCall, ChatMessage, NativeRequest } from "../chat.ts";
import { sentenceAboutRequest } from "../driver.ts";
import { anthropicDialect } from "../test-upstreams/anthropic.dialect.ts";
import { keyed } from "../test-upstreams/keyed.ts";
import { jsonReply, startScripted } from "../test-upstreams/scripted-server.ts";
import { openTextBench, streaming, type TextBench } from "../test-upstreams/text-bench.ts";
import { answering, refusing } from "../test-upstreams/text-upstream.ts";
import { createAnthropic } from "./anthropic.ts";

const usage = { input: 3, output: 2 };
const tool = { name: "look_up", description: "Looks up", parameters: { type: "object" } };
const current = "2026-10-21";

describe("anthropic chat port", () => {
  let bench: TextBench;
  beforeAll(async () => {
    bench = await openTextBench(anthropicDialect, createAnthropic);
  });
  afterAll(() => bench.close());

  const version = (n = 0) => bench.upstream.requests[n]?.headers["anthropic-version"];

  describe("versions", () => {
    it.each<[given: Partial<ChatCall>, version: string]>([
      [{}, current],
      [{ temperature: 0.5 }, "2023-06-01"],
      [{ topP: 0.5 }, "2023-06-01"],
      [{ extra: { top_k: 5 } }, "2023-06-01"],
    ])("accept what is sent: %j", async (given, sent) => {
      bench.play(answering({ text: ["ok"], usage }));
      await bench.chat(given);
      expect(version()).toBe(sent);
    });

    it.each<[native: Partial<NativeRequest>, headers: object]>([
      [{}, { "anthropic-version": current, "anthropic-beta": undefined }],
      [{ headers: { "anthropic-version": "2023-06-01" } }, { "anthropic-version": "2023-06-01" }],
      [{ headers: { "anthropic-beta": "a-1,b-2" } }, { "anthropic-version": current, "anthropic-beta": "a-1,b-2" }],
      [
        { headers: { cookie: "a", "x-api-key": "b", authorization: "c" } },
        { cookie: undefined, authorization: undefined, "x-api-key": "sk-secret-4711" },
      ],
    ])("and betas of native requests are passed on, and no other header: %j", async (native, headers) => {
      bench.play(answering({ text: ["ok"], usage }));
      const body = { messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] };
      await bench.chat({ native: { protocol: "anthropic", body, stream: true, ...native } });
      const sent = bench.upstream.requests[0]?.headers ?? {};
      expect(Object.fromEntries(Object.keys(headers).map((name) => [name, sent[name]]))).toEqual(headers);
    });

    it("are those of older clients for native requests that need them", async () => {
      bench.play(answering({ text: ["ok"], usage }));
      const messages = [{ role: "user", content: [{ type: "text", text: "Hi" }] }];
      await bench.chat({ native: { protocol: "anthropic", body: { messages, temperature: 0 }, stream: true } });
      expect(version()).toBe("2023-06-01");
    });
  });

  it("leaves out sampling that a model refuses, and top_p beside a temperature", async () => {
    bench.play(refusing(400, "`temperature` is deprecated for this model."), answering({ text: ["ok"], usage }));
    await bench.chat({ temperature: 0.5, topP: 0.9 });
    await bench.chat({ topP: 0.9 });
    const sampling = bench.upstream.requests.map(({ body }) => [body.temperature, body.top_p]);
    expect(sampling).toEqual([
      [0.5, undefined],
      [undefined, undefined],
      [undefined, undefined],
    ]);
    expect(version(2)).toBe(current);
  });

  it.each([
    "top_p: range: 0..1",
    "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
  ])("still sends sampling after a refused value: %s", async (told) => {
    bench.play(refusing(400, told), answering({ text: ["ok"], usage }));
    const call = bench.chat({ temperature: 0.5, extra: { top_p: 7 } });
    await expect(call).rejects.toMatchObject({ type: "downstream_service_error" });
    await bench.chat({ temperature: 0.5 });
    expect(bench.sent(1)).toMatchObject({ temperature: 0.5 });
  });

  it.each<[choice: ChatCall["toolChoice"], written: object]>([
    [undefined, { type: "auto", disable_parallel_tool_use: true }],
    ["required", { type: "any", disable_parallel_tool_use: true }],
    [{ name: "look_up" }, { type: "tool", name: "look_up", disable_parallel_tool_use: true }],
    ["none", { type: "none" }],
  ])("forbids parallel calls with the tool choice %j", async (toolChoice, written) => {
    bench.play(answering({ text: ["ok"], usage }));
    await bench.chat({ tools: [tool], parallelToolCalls: false, ...(toolChoice && { toolChoice }) });
    expect(bench.sent().tool_choice).toEqual(written);
  });

  describe("thinking", () => {
    it.each<[effort: "low" | "xhigh", limit: number, thinking: object | undefined]>([
      ["low", 10_000, { type: "enabled", budget_tokens: 2048 }],
      ["xhigh", 10_000, { type: "enabled", budget_tokens: 5000 }],
      ["low", 2000, undefined],
    ])("has a budget: %s of %i tokens", async (reasoningEffort, maxTokens, thinking) => {
      bench.play(answering({ text: ["ok"], usage }));
      await bench.chat({ reasoningEffort, maxTokens, temperature: 0.5 });
      expect(bench.sent().thinking).toEqual(thinking);
      expect("temperature" in bench.sent()).toBe(thinking === undefined);
    });

    it("is adaptive for models that refuse a budget", async () => {
      const told = '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" instead.';
      bench.play(refusing(400, told), answering({ text: ["ok"], usage }));
      await bench.chat({ reasoningEffort: "minimal", maxTokens: 10_000 });
      await bench.chat({ reasoningEffort: "high", maxTokens: 100 });
      const adaptive = (effort: string) => ({ thinking: { type: "adaptive" }, output_config: { effort } });
      expect([bench.sent(1), bench.sent(2)]).toMatchObject([adaptive("low"), adaptive("high")]);
    });

    it("is left out for models that do not think", async () => {
      bench.play(refusing(400, "thinking: this model does not support thinking"), answering({ text: ["ok"], usage }));
      await bench.chat({ reasoningEffort: "high", maxTokens: 10_000 });
      expect(bench.sent(1)).not.toHaveProperty("thinking");
    });

    it.each([
      "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
      "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. " +
        "When `thinking` is enabled, a final `assistant` message must start with a thinking block",
      "messages.1.content.0: Invalid `signature` in `thinking` block",
      "`top_k` is not supported when thinking is enabled",
    ])("and sampling stay after another refusal: %s", async (told) => {
      bench.play(refusing(400, told), answering({ text: ["ok"], usage }));
      const thinking = { reasoningEffort: "high", maxTokens: 10_000 } as const;
      await expect(bench.chat(thinking)).rejects.toMatchObject({ type: "downstream_service_error" });
      await bench.chat(thinking);
      expect(bench.sent(1)).toHaveProperty("thinking");
      await bench.chat({ temperature: 0.5 });
      expect(bench.sent(2)).toMatchObject({ temperature: 0.5 });
    });

    it("continues after tool results if the thoughts before the calls are known", async () => {
      const toolCalls = [{ id: "toolu_1", name: "look_up", arguments: "{}" }];
      bench.play(answering({ reasoning: ["hm"], toolCalls, usage }), answering({ text: ["ok"], usage }));
      const thinking = { reasoningEffort: "low", maxTokens: 10_000, tools: [tool] } as const;
      const first = await bench.chat(thinking);
      const result = { role: "tool", callId: "toolu_1", name: "look_up", content: "found" } as const;
      const messages = (opaque: unknown): ChatMessage[] => [
        { role: "user", content: "Hello" },
        { role: "assistant", text: "", toolCalls: first.toolCalls, opaque },
        result,
      ];
      await bench.chat({ ...thinking, messages: messages(first.opaque) });
      await bench.chat({ ...thinking, messages: messages(undefined) });
      expect(bench.upstream.requests.map(({ body }) => "thinking" in body)).toEqual([true, true, false]);
    });
  });

  const event = (type: string, fields: object = {}) => ({ type, ...fields });
  const start = (index: number, content_block: object) => event("content_block_start", { index, content_block });
  const piece = (index: number, delta: object) => event("content_block_delta", { index, delta });
  const text = (index: number, ...texts: string[]) => [
    start(index, { type: "text", text: "" }),
    ...texts.map((one) => piece(index, { type: "text_delta", text: one })),
    event("content_block_stop", { index }),
  ];
  const closing = (delta: object, usage_: object = { output_tokens: 5 }) => [
    event("message_delta", { delta, usage: usage_ }),
    event("message_stop"),
  ];

  it("names the stop text", async () => {
    bench.play(answering({ text: ["a"], usage, stop: "stop_sequence", stopText: "END" }));
    expect(await bench.chat({ stop: ["END"] })).toMatchObject({ stop: "stop_sequence", stopSequence: "END" });
  });

  it("reads pings, unknown events, empty pieces and usage that comes only at the end", async () => {
    bench.play(
      streaming(
        event("message_start", { message: { id: "m" } }),
        event("ping"),
        ...text(0, "Hel", "", "lo"),
        event("whatever_comes_next", { index: 0 }),
        start(1, { type: "tool_use", id: "toolu_1", name: "look_up", input: {} }),
        ...["", '{"q":', "", "1}"].map((partial_json) => piece(1, { type: "input_json_delta", partial_json })),
        piece(1, { type: "delta_of_later_versions", x: 1 }),
        ...closing({ stop_reason: "tool_use" }, { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 7 }),
      ),
    );
    const pieces: string[] = [];
    const result = await bench.chat({ tools: [tool], onToolCall: (one) => void pieces.push(one.arguments) });
    expect(result).toMatchObject({ text: "Hello", stop: "tool_calls", toolCalls: [{ arguments: { q: 1 } }] });
    expect(result.usage).toMatchObject({ inputTokens: 15, cachedTokens: 5, outputTokens: 7 });
    expect(pieces).toEqual(["", '{"q":', "1}"]);
  });

  it("keeps the text of each block", async () => {
    const thinking = { type: "thinking", thinking: "hm", signature: "c2lnbmVk" };
    const opening = event("message_start", { message: { usage: { input_tokens: 10, output_tokens: 1 } } });
    bench.play(
      streaming(
        opening,
        start(0, thinking),
        ...text(1, "one", " two", " three"),
        start(2, { type: "server_tool_use", id: "s", name: "web_search", input: {} }),
        ...text(3, "four", " five", " six"),
        ...closing({ stop_reason: "end_turn" }),
      ),
    );
    const { opaque, text: whole } = await bench.chat();
    expect(whole).toBe("one two threefour five six");
    const content = [{ text: "one two three" }, { name: "web_search" }, { text: "four five six" }];
    expect(opaque).toMatchObject({ content: [thinking, ...content] });
  });
});

describe("counting tokens", () => {
  it("is asked of the upstream, with its model's name", async () => {
    const net = createNet({ allowPrivateNetwork: true });
    const replies = [
      jsonReply({ input_tokens: 42 }),
      jsonReply({}),
      jsonReply({ error: { message: "messages: empty" } }, 400),
    ];
    const server = await startScripted(() => replies.shift() ?? jsonReply({}));
    const driver = createAnthropic({ net, url: `${server.url}/v1`, model: "m-1", ...keyed("k") });
    const { signal } = new AbortController();
    const headers = { "anthropic-beta": "b-1" };
    const count = () =>
      driver.countTokens?.({ protocol: "anthropic", body: { model: "x", messages: [] }, headers }, signal);
    expect(await count()).toBe(42);
    expect(server.seen[0]).toMatchObject({
      path: "/v1/messages/count_tokens",
      headers: { ...headers, "x-api-key": "k" },
    });
    expect(JSON.parse(String(server.seen[0]?.body))).toEqual({ model: "m-1", messages: [] });
    await expect(count()).rejects.toMatchObject({ type: "downstream_service_error" });
    const refused = await count()?.catch((thrown: unknown) => thrown);
    expect(sentenceAboutRequest(refused as Error)).toBe("messages: empty");
    await server.close();
    await net.close();
  });
});
