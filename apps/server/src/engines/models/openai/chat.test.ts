import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChatMessage } from "../chat.ts";
import { openAiChatDialect } from "../test-upstreams/openai-chat.dialect.ts";
import { openTextBench, picture, streaming, type TextBench } from "../test-upstreams/text-bench.ts";
import { answering, type Behaviour, refusing } from "../test-upstreams/text-upstream.ts";
import { describeTextBackend } from "../text/backend.contract.ts";
import { describeNative } from "../text/native.contract.ts";
import { describeChatPort } from "../text/port.contract.ts";
import { createOpenAiChat } from "./chat.ts";

describeTextBackend("openai-chat", openAiChatDialect, createOpenAiChat);
describeChatPort("openai-chat", openAiChatDialect, createOpenAiChat);
describeNative(openAiChatDialect, createOpenAiChat, "openai-chat");

const usage = { input: 3, output: 2 };
const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
const delta = (fields: Record<string, unknown>) => ({ choices: [{ index: 0, delta: fields }] });

describe("openai-chat protocol", () => {
  let bench: TextBench;
  beforeAll(async () => {
    bench = await openTextBench(openAiChatDialect, createOpenAiChat);
  });
  afterAll(() => bench.close());

  it("writes a prediction's inputs", async () => {
    bench.play(answering({ text: ["ok"], usage }));
    await bench.run({
      prompt: "Hi",
      system: "Be brief",
      max_tokens: 7,
      temperature: 0.5,
      seed: 1,
      top_p: 0.9,
      user: null,
    });
    expect(bench.sent()).toEqual({
      model: "m-1",
      messages: [
        { role: "system", content: "Be brief" },
        { role: "user", content: "Hi" },
      ],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 7,
      temperature: 0.5,
      seed: 1,
      top_p: 0.9,
    });
    expect(bench.upstream.requests[0]?.headers["idempotency-key"]).toBe("pred_1");
  });

  it("does not let inputs override its own fields", async () => {
    bench.play(answering({ text: ["ok"], usage }));
    await bench.run({ prompt: "Hi", model: "other", stream: false, messages: [] });
    expect(bench.sent()).toMatchObject({ model: "m-1", stream: true, messages: [{ content: "Hi" }] });
  });

  it("sends images with the prompt", async () => {
    bench.play(answering({ text: ["ok"], usage }));
    await bench.run({ prompt: "What is it?", image: picture() });
    expect(bench.sent().messages).toEqual([
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,cGljdHVyZQ==" } },
          { type: "text", text: "What is it?" },
        ],
      },
    ]);
  });

  it("does not send a field again that the server refused", async () => {
    bench.play(refusing(400, "Unrecognized request argument: stream_options"), answering({ text: ["ok"] }));
    expect(await bench.run({ prompt: "Hi" })).toMatchObject({ output: { output: "ok" }, usage: { estimated: true } });
    await bench.run({ prompt: "Hi" });
    expect(bench.upstream.requests.map(({ body }) => "stream_options" in body)).toEqual([true, false, false]);
  });

  it("learns the newer name of the token limit field", async () => {
    const told = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
    bench.play(refusing(400, told), answering({ text: ["ok"], usage }));
    await bench.run({ prompt: "Hi", max_tokens: 9 });
    expect(bench.sent(1)).toMatchObject({ max_completion_tokens: 9 });
    expect(bench.sent(1)).not.toHaveProperty("max_tokens");
  });

  it("distinguishes a refused prompt from an invalid request", async () => {
    bench.play(({ response }) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "filtered", code: "content_filter" } }));
    });
    await expect(bench.run({ prompt: "Hi" })).rejects.toMatchObject({ type: "content_policy_violation" });
  });

  it("reads reasoning under its other name", async () => {
    bench.play(streaming(delta({ reasoning: "hm" }), delta({ content: "ok" }), end, "[DONE]"));
    expect(await bench.chat()).toMatchObject({ reasoning: "hm", text: "ok" });
  });

  describe("thoughts before a call", () => {
    const call = { id: "a", function: { name: "look", arguments: "{}" } };
    const result = { role: "tool", callId: "a", name: "look", content: "found" } as const;
    const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }];
    const thinking = (field: string) =>
      streaming(
        delta({ [field]: "let me " }),
        delta({ [field]: "think" }),
        delta({ tool_calls: [call] }),
        end,
        "[DONE]",
      );
    const said = (n: number) => (bench.sent(n).messages as Record<string, unknown>[])[1];
    /** Like DeepSeek's and Kimi's thinking models. */
    const needing: Behaviour = (exchange) => {
      const messages = exchange.body.messages as Record<string, unknown>[];
      const isMissing = messages.some((message) => message.tool_calls && !message.reasoning_content);
      const told = "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1";
      return (isMissing ? refusing(400, told) : answering({ text: ["done"], usage }))(exchange);
    };

    async function askedAndCalled(first: Behaviour, ...then: Behaviour[]) {
      bench.play(first, ...then);
      const { text, toolCalls, opaque } = await bench.chat({ tools });
      const stored = JSON.parse(JSON.stringify({ role: "assistant", text, toolCalls, opaque })) as ChatMessage;
      return [{ role: "user", content: "Hello" }, stored, result] satisfies ChatMessage[];
    }

    it("are sent back with the call, as some servers require", async () => {
      const messages = await askedAndCalled(thinking("reasoning_content"), needing);
      expect((await bench.chat({ tools, messages })).text).toBe("done");
      expect(said(1)).toMatchObject({ reasoning_content: "let me think", tool_calls: [{ id: "a" }] });
    });

    it("are sent back in the field in which they arrived", async () => {
      const messages = await askedAndCalled(thinking("reasoning"), answering({ text: ["done"], usage }));
      await bench.chat({ tools, messages });
      expect(said(1)).toMatchObject({ reasoning: "let me think" });
      expect(said(1)).not.toHaveProperty("reasoning_content");
    });

    it("are not sent to another server", async () => {
      const messages = await askedAndCalled(thinking("reasoning_content"));
      const other = await openTextBench(openAiChatDialect, createOpenAiChat);
      other.play(answering({ text: ["done"], usage }));
      await other.chat({ tools, messages });
      expect(JSON.stringify(other.sent())).not.toContain("think");
      await other.close();
    });

    it("are not sent again to a server that refuses them", async () => {
      const told = "'messages.1' : property 'reasoning' is unsupported";
      const messages = await askedAndCalled(
        thinking("reasoning"),
        refusing(400, told),
        answering({ text: ["done"], usage }),
      );
      expect((await bench.chat({ tools, messages })).text).toBe("done");
      await bench.chat({ tools, messages });
      expect([1, 2, 3].map((n) => "reasoning" in (said(n) ?? {}))).toEqual([true, false, false]);
    });

    it("are dropped from an answer without calls", async () => {
      bench.play(streaming(delta({ reasoning_content: "hm" }), delta({ content: "ok" }), end, "[DONE]"));
      expect(await bench.chat()).not.toHaveProperty("opaque");
    });
  });

  it("reads text and thoughts from content in parts", async () => {
    const thought = { type: "thinking", thinking: [{ type: "text", text: "hm" }] };
    bench.play(
      streaming(
        delta({ content: [thought] }),
        delta({
          content: [
            { type: "text", text: "Hel" },
            { type: "text", text: "lo" },
          ],
        }),
        delta({ content: " world" }),
        delta({ content: [{ type: "reference", reference_ids: [1] }] }),
        end,
        "[DONE]",
      ),
    );
    const [pieces, thoughts]: [string[], string[]] = [[], []];
    const onText = (text: string) => void pieces.push(text);
    const result = await bench.chat({ onText, onReasoning: (text) => void thoughts.push(text) });
    expect(result).toMatchObject({ text: "Hello world", reasoning: "hm" });
    expect([pieces, thoughts]).toEqual([["Hello", " world"], ["hm"]]);
    expect(await bench.run({ prompt: "Hi" })).toMatchObject({ output: { output: "Hello world" } });
  });

  it("wraps an answer that is not an object in an object and unwraps it", async () => {
    const list = { type: "array", items: { $ref: "#/$defs/n" }, $defs: { n: { type: "number" } } };
    bench.play(
      refusing(400, "response_format is not supported"),
      answering({ toolCalls: [{ id: "a", name: "gantry_submit_answer", arguments: '{"value":[1,2]}' }], usage }),
    );
    expect(await bench.chat({ responseSchema: list })).toMatchObject({ text: "[1,2]", toolCalls: [], stop: "end" });
    expect(bench.sent(1)).toMatchObject({
      tools: [
        { function: { parameters: { properties: { value: { items: { $ref: "#/properties/value/$defs/n" } } } } } },
      ],
    });
  });

  it("assembles calls without an index", async () => {
    bench.play(
      streaming(
        delta({ tool_calls: [{ id: "a", function: { name: "one", arguments: '{"x":' } }] }),
        delta({ tool_calls: [{ function: { arguments: "1}" } }] }),
        delta({ tool_calls: [{ id: "b", function: { name: "two", arguments: { y: 2 } } }] }),
        end,
        "[DONE]",
      ),
    );
    const result = await bench.chat();
    expect(result.stop).toBe("tool_calls");
    expect(result.toolCalls).toEqual([
      { id: "a", name: "one", arguments: { x: 1 } },
      { id: "b", name: "two", arguments: { y: 2 } },
    ]);
  });

  it.each(["{broken", "[1]", '"text"'])("passes arguments that are not an object on unchanged: %s", async (json) => {
    bench.play(answering({ toolCalls: [{ id: "a", name: "one", arguments: json }], usage }));
    expect((await bench.chat()).toolCalls).toEqual([{ id: "a", name: "one", arguments: { __invalid: json } }]);
  });

  it("counts reasoning once, also if the server counts it separately", async () => {
    const within = { prompt_tokens: 10, completion_tokens: 8, total_tokens: 18 };
    const details = { completion_tokens_details: { reasoning_tokens: 5 } };
    bench.play(streaming(delta({ content: "ok" }), end, { choices: [], usage: { ...within, ...details } }, "[DONE]"));
    expect((await bench.chat()).usage).toEqual({ inputTokens: 10, outputTokens: 8 });
    const apart = { ...within, total_tokens: 23, ...details };
    bench.play(streaming(delta({ content: "ok" }), end, { choices: [], usage: apart }, "[DONE]"));
    expect((await bench.chat()).usage).toEqual({ inputTokens: 10, outputTokens: 13 });
  });

  it.each<[who: string, usage: object]>([
    ["OpenRouter", { prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 5 } }],
    ["LiteLLM", { prompt_tokens_details: { cached_tokens: 4, cache_creation_tokens: 5 } }],
    ["others", { prompt_tokens_details: { cached_tokens: 4 }, cache_creation_input_tokens: 5 }],
  ])("counts cache writes as %s reports them", async (_, details) => {
    const usage = { prompt_tokens: 10, completion_tokens: 8, total_tokens: 18, ...details };
    bench.play(streaming(delta({ content: "ok" }), end, { choices: [], usage }, "[DONE]"));
    const counted = { inputTokens: 10, outputTokens: 8, cachedTokens: 4, cacheWriteTokens: 5 };
    expect((await bench.chat()).usage).toEqual(counted);
  });

  it("does not need [DONE] after a finish reason", async () => {
    bench.play(streaming(delta({ content: "ok" }), end));
    expect((await bench.chat()).text).toBe("ok");
  });

  it("does not wait for a server that keeps the connection open after [DONE]", async () => {
    bench.play(({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify(delta({ content: "ok" }))}\n\ndata: [DONE]\n\n`);
    });
    const started = performance.now();
    expect((await bench.chat()).text).toBe("ok");
    expect(performance.now() - started).toBeLessThan(15_000);
    await expect.poll(() => bench.upstream.brokenOffAt.length).toBe(1);
  });

  it("reports a JSON answer with status 200 as a failure", async () => {
    bench.play(({ response }) => {
      response.writeHead(200, { "content-type": "application/json" }).end('{"error":"no stream here"}');
    });
    await expect(bench.chat()).rejects.toMatchObject({ type: "downstream_service_error" });
  });

  it("sends a response schema, strict only if OpenAI accepts that", async () => {
    const open = { type: "object", properties: { n: { type: "number" } } };
    const closed = { ...open, required: ["n"], additionalProperties: false };
    bench.play(answering({ text: ['{"n":1}'], usage }));
    expect((await bench.chat({ responseSchema: open })).text).toBe('{"n":1}');
    await bench.chat({ responseSchema: closed });
    const formats = bench.upstream.requests.map(({ body }) => body.response_format);
    expect(formats).toEqual([
      { type: "json_schema", json_schema: { name: "answer", schema: open, strict: false } },
      { type: "json_schema", json_schema: { name: "answer", schema: closed, strict: true } },
    ]);
  });

  const schema = { type: "object", properties: { n: { type: "number" } } };
  const submit = { type: "function", function: { name: "gantry_submit_answer" } };
  const handedIn = (n: number) =>
    answering({ toolCalls: [{ id: "a", name: "gantry_submit_answer", arguments: `{"n":${n}}` }], usage });

  it.each([
    [400, "This response_format type is unavailable now"],
    [400, "'response_format.type' must be 'json_object' or 'text'"],
    [400, "'response_format.type' : value is not one of the allowed values ['text','json_object']"],
    [400, "Unrecognized request argument supplied: response_format"],
    [400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."],
    [400, "The response_format parameter is unsupported at the moment. Leave it unset."],
    [400, "This model does not support response format `json_schema`."],
    [400, "json mode cannot be combined with tool/function calling"],
    [422, "body.response_format: Extra inputs are not permitted"],
  ])("has the answer handed to a tool where the server has no schemas: %i %s", async (status, told) => {
    bench.play(refusing(status, told), handedIn(1), handedIn(2), answering({ text: ["free"], usage }));
    const pieces: string[] = [];
    const first = await bench.chat({ responseSchema: schema, onText: (text) => void pieces.push(text) });
    expect(first).toMatchObject({ text: '{"n":1}', toolCalls: [], stop: "end" });
    expect(pieces.join("")).toBe('{"n":1}');
    // The schema is not sent again, and neither are tools without a request for them.
    expect(await bench.chat({ responseSchema: schema })).toMatchObject({ text: '{"n":2}', toolCalls: [] });
    expect((await bench.chat()).text).toBe("free");
    expect(bench.upstream.requests.map(({ body }) => "response_format" in body)).toEqual([true, false, false, false]);
    expect(bench.sent(1)).toMatchObject({
      tools: [{ type: "function", function: { name: "gantry_submit_answer", parameters: schema } }],
      tool_choice: submit,
    });
    expect(bench.sent(3)).not.toHaveProperty("tools");
  });

  it("keeps the conversation's tools declared but forces the answer tool", async () => {
    const tool = { name: "look", description: "Looks.", parameters: { type: "object" } };
    bench.play(refusing(400, "response_format is not supported"), handedIn(1));
    const result = await bench.chat({ responseSchema: { properties: {} }, tools: [tool], toolChoice: "none" });
    expect(result).toMatchObject({ text: '{"n":1}', toolCalls: [] });
    expect(bench.sent(0)).toMatchObject({ tool_choice: "none" });
    expect(bench.sent(1)).toMatchObject({
      tools: [
        { function: { name: "look" } },
        // Servers refuse parameters that are not declared as an object.
        { function: { name: "gantry_submit_answer", parameters: { type: "object", properties: {} } } },
      ],
      tool_choice: submit,
    });
  });

  it("learns several refusals one after the other within one call", async () => {
    bench.play(
      refusing(400, "Unrecognized request argument: stream_options"),
      refusing(400, "This response_format type is unavailable now"),
      refusing(400, "Thinking mode does not support this tool_choice"),
      answering({ text: ["said on the way"], toolCalls: [{ id: "a", name: "gantry_submit_answer", arguments: "{}" }] }),
    );
    const result = await bench.chat({ responseSchema: schema });
    expect(result).toMatchObject({ text: "{}", reasoning: "said on the way", toolCalls: [] });
    expect(bench.sent(3)).toMatchObject({ tool_choice: "auto", tools: [{}] });
    expect(bench.sent(3)).not.toHaveProperty("stream_options");
  });

  it("learns a refusal once for concurrent calls", async () => {
    bench.play(({ body, response, dialect, request }) =>
      (body.response_format ? refusing(400, "response_format is unavailable") : handedIn(1))({
        body,
        response,
        dialect,
        request,
      }),
    );
    const calls = Array.from({ length: 4 }, () => bench.chat({ responseSchema: schema }));
    for (const { text } of await Promise.all(calls)) expect(text).toBe('{"n":1}');
    expect(bench.upstream.requests).toHaveLength(8);
  });

  it("still sends other schemas after one was refused for its content", async () => {
    const told = "Invalid schema for response_format 'answer': In context=(), 'oneOf' is not permitted.";
    bench.play(refusing(400, told), handedIn(1), handedIn(2), answering({ text: ['{"n":3}'], usage }));
    expect((await bench.chat({ responseSchema: schema })).text).toBe('{"n":1}');
    expect((await bench.chat({ responseSchema: schema })).text).toBe('{"n":2}');
    expect((await bench.chat({ responseSchema: { ...schema } })).text).toBe('{"n":3}');
    expect(bench.upstream.requests.map(({ body }) => "response_format" in body)).toEqual([true, false, false, true]);
  });

  it("does not resend a request that was refused for another reason", async () => {
    bench.play(refusing(400, "This model's maximum context length is 8192 tokens"));
    await expect(bench.chat({ responseSchema: schema })).rejects.toMatchObject({ type: "downstream_service_error" });
    expect(bench.upstream.requests).toHaveLength(1);
    // Also not if the refusal names a field that is no longer sent.
    bench.play(refusing(400, "response_format: no"));
    await expect(bench.chat({ responseSchema: schema })).rejects.toMatchObject({ type: "downstream_service_error" });
    expect(bench.upstream.requests).toHaveLength(2);
    await expect(bench.chat()).rejects.toMatchObject({ type: "downstream_service_error" });
    expect(bench.upstream.requests).toHaveLength(3);
  });

  it("refuses a prediction without a prompt", async () => {
    bench.play(answering({ text: ["ok"], usage }));
    await expect(bench.run({})).rejects.toMatchObject({ type: "missing" });
    expect(bench.upstream.requests).toHaveLength(0);
  });
});
