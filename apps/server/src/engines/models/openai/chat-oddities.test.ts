import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Fault } from "../../../kernel/errors.ts";
import type { ChatMessage, ToolCallPiece } from "../chat.ts";
import { sentenceAboutRequest } from "../driver.ts";
import { nativeChat, openAiChatDialect } from "../test-upstreams/openai-chat.dialect.ts";
import { openTextBench, streaming, type TextBench } from "../test-upstreams/text-bench.ts";
import { answering, refusing } from "../test-upstreams/text-upstream.ts";
import { createOpenAiChat } from "./chat.ts";

const usage = { input: 3, output: 2 };
const delta = (fields: object, reason?: string) => ({
  choices: [{ index: 0, delta: fields, ...(reason !== undefined && { finish_reason: reason }) }],
});
const end = delta({}, "stop");
const called = delta({}, "tool_calls");
const call = (fields: object) => delta({ tool_calls: [fields] });

describe("oddities of servers with OpenAI's protocol", () => {
  let bench: TextBench;
  beforeAll(async () => {
    bench = await openTextBench(openAiChatDialect, createOpenAiChat);
  });
  afterAll(() => bench.close());

  describe("tool calls", () => {
    const one = { name: "one", arguments: '{"x":1}' };
    const two = { name: "two", arguments: '{"y":2}' };
    const both = [
      { name: "one", arguments: { x: 1 } },
      { name: "two", arguments: { y: 2 } },
    ];

    it.each<[how: string, events: Record<string, unknown>[]]>([
      [
        "whole in one chunk",
        [
          delta({
            tool_calls: [
              { index: 0, id: "a", function: one },
              { index: 1, id: "b", function: two },
            ],
          }),
        ],
      ],
      ["whole, without an index", [call({ id: "a", function: one }), call({ id: "b", function: two })]],
      [
        "whole, with the index null",
        [call({ index: null, id: "a", function: one }), call({ index: null, id: "b", function: two })],
      ],
      ["whole, with neither index nor id", [delta({ tool_calls: [{ function: one }, { function: two }] })]],
      [
        "whole, all with the index 0",
        [call({ index: 0, id: "a", function: one }), call({ index: 0, id: "b", function: two })],
      ],
      [
        "with an object as arguments",
        [
          call({ index: 0, id: "a", function: { name: "one", arguments: { x: 1 } } }),
          call({ index: 1, id: "b", function: { name: "two", arguments: { y: 2 } } }),
        ],
      ],
      [
        "with id and name in every chunk",
        [
          call({ index: 0, id: "a", function: { name: "one", arguments: '{"x"' } }),
          call({ index: 0, id: "a", function: { name: "one", arguments: ":1}" } }),
          call({ index: 1, id: "b", function: { name: "two", arguments: '{"y"' } }),
          call({ index: 1, id: "b", function: { name: "two", arguments: ":2}" } }),
        ],
      ],
      [
        "with another id in every chunk",
        [
          call({ index: 0, id: "a", function: { name: "one", arguments: '{"x"' } }),
          call({ index: 0, id: "a2", function: { name: "one", arguments: ":1}" } }),
          call({ index: 1, id: "b", function: { name: "two", arguments: '{"y":2}' } }),
        ],
      ],
      [
        "with ids but no index, in pieces",
        [
          call({ id: "a", function: { name: "one", arguments: '{"x"' } }),
          call({ id: "a", function: { arguments: ":1}" } }),
          call({ id: "b", function: { name: "two", arguments: "" } }),
          call({ id: "", function: { arguments: '{"y":2}' } }),
        ],
      ],
      [
        "with the name after the id",
        [
          call({ index: 0, id: "a", function: {} }),
          call({ index: 0, function: { name: "one", arguments: '{"x":1}' } }),
          call({ index: 1, id: "b", function: two }),
        ],
      ],
      [
        "with indexes that start at 1",
        [call({ index: 1, id: "a", function: one }), call({ index: 2, id: "b", function: two })],
      ],
      [
        "together with the finish reason",
        [
          call({ index: 0, id: "a", function: one }),
          delta({ tool_calls: [{ index: 1, id: "b", function: two }] }, "tool_calls"),
        ],
      ],
    ])("are read %s", async (_, events) => {
      bench.play(streaming(...events, called, "[DONE]"));
      const pieces: ToolCallPiece[] = [];
      const result = await bench.chat({ onToolCall: (piece) => void pieces.push(piece) });
      expect(result.stop).toBe("tool_calls");
      expect(result.toolCalls.map(({ name, arguments: given }) => ({ name, arguments: given }))).toEqual(both);
      expect(new Set(result.toolCalls.map(({ id }) => id)).size).toBe(2);
      for (const [index, { id, name, arguments: given }] of result.toolCalls.entries()) {
        const own = pieces.filter((piece) => piece.index === index);
        expect(own[0]).toEqual({ index, id, name, arguments: "" });
        expect(JSON.parse(own.map((piece) => piece.arguments).join(""))).toEqual(given);
      }
      expect(pieces.every(({ index }) => index < 2)).toBe(true);
    });

    const askWhole = (tool_calls: object[]) => {
      const whole = JSON.stringify({ choices: [{ message: { tool_calls }, finish_reason: "tool_calls" }] });
      bench.play(({ response }) => void response.writeHead(200, { "content-type": "application/json" }).end(whole));
      return bench.chat(nativeChat({}, false));
    };
    const many = (count: number, part: (n: number) => object) => Array.from({ length: count }, (_, n) => part(n));

    it("are read in the time of their length, however many parts continue one", async () => {
      const begun = { index: 0, id: "a", function: { name: "one", arguments: `{"x":"${"y".repeat(4_000_000)}` } };
      const more = { index: 0, id: "b", function: { name: "one" } };
      const { toolCalls } = await askWhole([begun, ...many(200_000, () => more)]);
      expect(toolCalls.map(({ id }) => id)).toEqual(["a"]);
      const others = many(1000, (n) => ({ index: n, id: `${n}`, function: { name: "one" } }));
      const last = await askWhole([...others, ...many(500_000, () => ({ index: 0 }))]);
      expect(last.toolCalls).toHaveLength(1000);
    });

    it("are an end by tool calls, whatever the finish reason says", async () => {
      bench.play(streaming(call({ index: 0, id: "a", function: one }), end, "[DONE]"));
      expect((await bench.chat()).stop).toBe("tool_calls");
    });

    it("without arguments are passed on as an empty object, unless they were cut", async () => {
      const opening = call({ index: 0, id: "a", function: { name: "now", arguments: "" } });
      const pieces: string[] = [];
      const onToolCall = (piece: ToolCallPiece) => void pieces.push(piece.arguments);
      bench.play(streaming(opening, called, "[DONE]"));
      await bench.chat({ onToolCall });
      bench.play(streaming(opening, delta({}, "length"), "[DONE]"));
      await bench.chat({ onToolCall });
      expect(pieces).toEqual(["", "{}", ""]);
    });
  });

  it.each<[how: string, events: (Record<string, unknown> | string)[]]>([
    [
      "with usage in every chunk",
      [
        { ...delta({ content: "Hel" }), usage: { prompt_tokens: 3, completion_tokens: 1 } },
        { ...delta({ content: "lo" }), usage: { prompt_tokens: 3, completion_tokens: 2 } },
        { ...end, usage: { prompt_tokens: 3, completion_tokens: 2 } },
        "[DONE]",
      ],
    ],
    [
      "with usage and no choices",
      [delta({ content: "Hello" }), end, { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }, "[DONE]"],
    ],
    [
      "with usage and null as choices",
      [
        delta({ content: "Hello" }),
        end,
        { choices: null, usage: { prompt_tokens: 3, completion_tokens: 2 } },
        "[DONE]",
      ],
    ],
    [
      "without [DONE]",
      [delta({ content: "Hello" }), end, { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }],
    ],
    [
      "with an empty finish reason in every chunk",
      [
        delta({ content: "Hel" }, ""),
        delta({ content: "lo" }, ""),
        delta({}, "stop"),
        { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } },
        "[DONE]",
      ],
    ],
    [
      "without a finish reason",
      [delta({ content: "Hello" }), { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }, "[DONE]"],
    ],
    [
      "with null for what is absent",
      [
        delta({ role: "assistant", content: null, tool_calls: null, refusal: null, reasoning_content: null }),
        delta({ content: "Hello", tool_calls: null }),
        { ...end, usage: { prompt_tokens: 3, completion_tokens: 2 } },
        "[DONE]",
      ],
    ],
  ])("reads an answer %s", async (_, events) => {
    bench.play(streaming(...events));
    const result = await bench.chat();
    expect(result).toMatchObject({ text: "Hello", stop: "end", toolCalls: [] });
    expect(result.usage).toEqual({ inputTokens: 3, outputTokens: 2 });
  });

  it("names the stop text if the server does", async () => {
    const stopped = (stop_reason: unknown) => ({ choices: [{ delta: {}, finish_reason: "stop", stop_reason }] });
    bench.play(streaming(delta({ content: "a" }), stopped("END"), "[DONE]"));
    expect(await bench.chat({ stop: ["END"] })).toMatchObject({ stop: "stop_sequence", stopSequence: "END" });
    for (const token of [null, 128_009]) {
      bench.play(streaming(delta({ content: "a" }), stopped(token), "[DONE]"));
      expect((await bench.chat({ stop: ["END"] })).stop).toBe("end");
    }
  });

  it.each([
    ["reasoning_effort", "Unrecognized request argument supplied: reasoning_effort", { reasoningEffort: "low" }],
    ["prompt_cache_key", "Extra inputs are not permitted: prompt_cache_key", { extra: { prompt_cache_key: "k" } }],
    [
      "parallel_tool_calls",
      "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
      {
        parallelToolCalls: false,
        tools: [{ name: "now", description: "", parameters: { type: "object" } }],
      },
    ],
    ["response_format", "'response_format.type' must be 'json_schema' or 'text'", { responseFormat: "json" }],
  ] as const)("does not send %s again to a server that refuses it", async (field, told, given) => {
    bench.play(refusing(400, told), answering({ text: ["ok"], usage }));
    expect((await bench.chat(given)).text).toBe("ok");
    await bench.chat(given);
    expect(bench.upstream.requests.map(({ body }) => field in body)).toEqual([true, false, false]);
  });

  it("does not send a request again that was refused after text had arrived", async () => {
    const refused = { error: { message: "Unrecognized request argument: stream_options", code: 400 } };
    bench.play(streaming(delta({ content: "par" }), refused), answering({ text: ["ok"], usage }));
    const texts: string[] = [];
    const work = bench.chat({ onText: (text) => void texts.push(text) });
    await expect(work).rejects.toMatchObject({ type: "downstream_service_error" });
    expect(texts).toEqual(["par"]);
    expect(bench.upstream.requests).toHaveLength(1);
  });

  it("does not quote refused content", async () => {
    bench.play(({ response }) => {
      const error = { message: "filtered: a red drone", code: "content_filter" };
      response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error }));
    });
    const fault = (await bench.chat().catch((thrown: unknown) => thrown)) as Fault;
    expect(fault.type).toBe("content_policy_violation");
    expect(sentenceAboutRequest(fault)).toBeUndefined();
  });

  it("reports a refused stop text, without which the answer would be another", async () => {
    bench.play(refusing(400, "Unsupported parameter: 'stop' is not supported with this model."));
    await expect(bench.chat({ stop: ["END"] })).rejects.toMatchObject({ type: "downstream_service_error" });
    expect(bench.upstream.requests).toHaveLength(1);
  });

  describe("thoughts of a client that keeps its own messages", () => {
    const toolCalls = [{ id: "a", name: "look", arguments: {} }];
    const conversation = (fields: Partial<Extract<ChatMessage, { role: "assistant" }>>): ChatMessage[] => [
      { role: "user", content: "Hello" },
      { role: "assistant", text: "", toolCalls, reasoning: "I think", ...fields },
      ...(fields.toolCalls ? [] : [{ role: "tool", callId: "a", name: "look", content: "found" } as const]),
    ];
    const said = (n: number) => (bench.sent(n).messages as Record<string, unknown>[])[1];

    it("are sent beside calls only", async () => {
      bench.play(answering({ text: ["ok"], usage }));
      await bench.chat({ messages: conversation({}) });
      await bench.chat({ messages: conversation({ text: "Well", toolCalls: [] }) });
      expect(said(0)).toMatchObject({ reasoning_content: "I think" });
      expect(said(1)).toEqual({ role: "assistant", content: "Well" });
    });

    it("are not sent again to a server that refuses them", async () => {
      const told = "Additional properties are not allowed ('reasoning_content' was unexpected) - 'messages.1'";
      bench.play(refusing(400, told), answering({ text: ["ok"], usage }));
      await bench.chat({ messages: conversation({}) });
      expect([0, 1].map((n) => "reasoning_content" in (said(n) ?? {}))).toEqual([true, false]);
    });

    it("give way to what the server itself must get back", async () => {
      bench.play(answering({ text: ["ok"], usage }));
      const opaque = { protocol: "openai-chat", server: "another", field: "reasoning", text: "secret" };
      await bench.chat({ messages: conversation({ opaque }) });
      expect(JSON.stringify(bench.sent())).not.toMatch(/secret|I think/);
    });
  });
});
