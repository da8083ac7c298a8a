import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChatMessage } from "../chat.ts";
import { googleDialect } from "../test-upstreams/google.dialect.ts";
import { openTextBench, picture, streaming, type TextBench } from "../test-upstreams/text-bench.ts";
import { answering } from "../test-upstreams/text-upstream.ts";
import { describeTextBackend } from "../text/backend.contract.ts";
import { describeChatPort } from "../text/port.contract.ts";
import { createGoogle } from "./google.ts";

describeTextBackend("google", googleDialect, createGoogle);
describeChatPort("google", googleDialect, createGoogle);

const usage = { input: 3, output: 2 };
const tool = { name: "look_up", description: "Looks up", parameters: { type: "object", properties: {} } };
const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false };

describe("google protocol", () => {
  let bench: TextBench;
  beforeAll(async () => {
    bench = await openTextBench(googleDialect, createGoogle);
  });
  afterAll(() => bench.close());

  it("writes a prediction's inputs", async () => {
    bench.play(answering({ text: ["ok"], usage }));
    const safetySettings = [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }];
    await bench.run({
      prompt: "Hi",
      system: "Be brief",
      max_tokens: 7,
      seed: 1,
      topK: 5,
      safetySettings,
      image: picture(),
    });
    expect(bench.sent()).toEqual({
      safetySettings,
      contents: [
        { role: "user", parts: [{ inlineData: { mimeType: "image/png", data: "cGljdHVyZQ==" } }, { text: "Hi" }] },
      ],
      systemInstruction: { parts: [{ text: "Be brief" }] },
      generationConfig: { maxOutputTokens: 7, seed: 1, topK: 5 },
    });
  });

  it("counts thoughts as output and passes on the whole usage report", async () => {
    const usageMetadata = {
      promptTokenCount: 20,
      candidatesTokenCount: 4,
      thoughtsTokenCount: 30,
      cachedContentTokenCount: 8,
      totalTokenCount: 54,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: 20 }],
    };
    const candidates = [{ content: { parts: [{ text: "ok" }] }, finishReason: "STOP" }];
    bench.play(streaming({ candidates, usageMetadata }));
    expect((await bench.chat()).usage).toEqual({
      inputTokens: 20,
      outputTokens: 34,
      cachedTokens: 8,
      googleUsage: usageMetadata,
    });
  });

  it("does not wait for a server that keeps the connection open after its answer", async () => {
    bench.play(({ response }) => {
      const candidates = [{ content: { parts: [{ text: "ok" }] }, finishReason: "STOP" }];
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify({ candidates, usageMetadata: { promptTokenCount: 4 } })}\n\n`);
    });
    const started = performance.now();
    expect((await bench.chat()).text).toBe("ok");
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  it("recognizes a refused prompt", async () => {
    bench.play(streaming({ promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 4 } }));
    expect((await bench.chat()).stop).toBe("refused");
    await expect(bench.run({ prompt: "Hi" })).rejects.toMatchObject({ type: "content_policy_violation" });
  });

  it("retries a malformed call", async () => {
    bench.play(
      streaming({ candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL" }] }),
      answering({ text: ["ok"], usage }),
    );
    expect((await bench.chat()).text).toBe("ok");
  });

  it("generates missing call ids and does not send them back", async () => {
    const call = { functionCall: { name: "look_up", args: { q: 1 } } };
    bench.play(
      streaming({ candidates: [{ content: { parts: [call, call] }, finishReason: "STOP" }] }),
      answering({ text: ["done"], usage }),
    );
    const { text, toolCalls } = await bench.chat({ tools: [tool] });
    expect(new Set(toolCalls.map(({ id }) => id)).size).toBe(2);
    await bench.chat({
      tools: [tool],
      messages: [
        { role: "user", content: "Hello" },
        { role: "assistant", text, toolCalls },
        ...toolCalls.map(({ id }) => ({ role: "tool" as const, callId: id, name: "look_up", content: "found" })),
      ],
    });
    expect(bench.sent(1).contents).toEqual([
      { role: "user", parts: [{ text: "Hello" }] },
      { role: "model", parts: [call, call] },
      {
        role: "user",
        parts: Array(2).fill({ functionResponse: { name: "look_up", response: { result: "found" } } }),
      },
    ]);
  });

  it("sends signed parts back unchanged", async () => {
    const parts = [
      { text: "I look.", thoughtSignature: "QQ==" },
      { functionCall: { id: "c1", name: "look_up", args: {} }, thoughtSignature: "Qg==" },
    ];
    bench.play(
      streaming({ candidates: [{ content: { parts }, finishReason: "STOP" }] }),
      answering({ text: ["done"], usage }),
    );
    const { text, toolCalls, opaque } = await bench.chat({ tools: [tool] });
    await bench.chat({
      tools: [tool],
      messages: [
        { role: "user", content: "Hello" },
        { role: "assistant", text, toolCalls, opaque },
        { role: "tool", callId: "c1", name: "look_up", content: "found" },
      ],
    });
    expect((bench.sent(1).contents as unknown[])[1]).toEqual({ role: "model", parts });
  });

  describe("arguments without a schema", () => {
    const send = {
      name: "send",
      description: "Sends.",
      parameters: { type: "object", properties: { url: { type: "string" }, headers: { type: "object" } } },
    };
    const part = {
      functionCall: { id: "c1", name: "send", args: { url: "u", headers: '{"a":"b"}' } },
      thoughtSignature: "Qg==",
    };

    async function sentBack(own: TextBench, change: (given: Record<string, unknown>) => Record<string, unknown>) {
      own.play(
        streaming({ candidates: [{ content: { parts: [part] }, finishReason: "STOP" }] }),
        answering({ text: ["done"], usage }),
      );
      const { text, toolCalls, opaque } = await own.chat({ tools: [send] });
      const calls = toolCalls.map((call) => ({ ...call, arguments: change(call.arguments) }));
      const stored = { role: "assistant", text, toolCalls: calls, opaque };
      await own.chat({
        tools: [send],
        messages: [
          { role: "user", content: "Hello" },
          // A database may return the fields in another order.
          JSON.parse(JSON.stringify(stored)) as ChatMessage,
          { role: "tool", callId: "c1", name: "send", content: "sent" },
        ],
      });
      const [, back] = own.sent(1).contents as { parts: unknown[] }[];
      return { toolCalls, parts: back?.parts };
    }

    it("are restored for the tool and sent back unchanged", async () => {
      const { toolCalls, parts } = await sentBack(bench, ({ url, headers }) => ({ headers, url }));
      expect(toolCalls).toEqual([{ id: "c1", name: "send", arguments: { url: "u", headers: { a: "b" } } }]);
      expect(parts).toEqual([part]);
    });

    it("are sent back without their signature if they were shortened", async () => {
      const shorter = () => ({ url: "u […]" });
      const { parts } = await sentBack(bench, shorter);
      const functionCall = { ...part.functionCall, args: { url: "u […]" } };
      expect(parts).toEqual([{ functionCall, thoughtSignature: "skip_thought_signature_validator" }]);
      const older = { ...googleDialect, path: googleDialect.path.replace("m-1", "gemini-2.5-pro") };
      const bench25 = await openTextBench(older, (options) => createGoogle({ ...options, model: "gemini-2.5-pro" }));
      expect((await sentBack(bench25, shorter)).parts).toEqual([{ functionCall }]);
      await bench25.close();
    });

    it("make the answer use the answer tool and are restored", async () => {
      const responseSchema = { type: "object", properties: { meta: { type: "object" } } };
      const handedIn = { id: "c", name: "gantry_submit_answer", arguments: '{"meta":"{\\"a\\":1}"}' };
      bench.play(answering({ toolCalls: [handedIn], usage }));
      expect(await bench.chat({ responseSchema })).toMatchObject({
        text: '{"meta":{"a":1}}',
        toolCalls: [],
        stop: "end",
      });
      expect(bench.sent().toolConfig).toEqual({
        functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["gantry_submit_answer"] },
      });
    });

    it("alone make the answer plain JSON", async () => {
      bench.play(answering({ text: ['{"a":1}'], usage }));
      expect((await bench.chat({ responseSchema: { type: "object" } })).text).toBe('{"a":1}');
      expect(bench.sent().generationConfig).toEqual({ responseMimeType: "application/json" });
    });
  });

  it("maps tool names that the API refuses", async () => {
    const named = { name: "1-srv__look", description: "Looks.", parameters: { type: "object" } };
    bench.play(
      answering({ toolCalls: [{ id: "c1", name: "_1-srv__look", arguments: "{}" }], usage }),
      answering({ text: ["done"], usage }),
    );
    const { text, toolCalls } = await bench.chat({ tools: [named], toolChoice: { name: named.name } });
    expect(toolCalls).toEqual([{ id: "c1", name: "1-srv__look", arguments: {} }]);
    await bench.chat({
      tools: [named],
      messages: [
        { role: "user", content: "Hello" },
        { role: "assistant", text, toolCalls },
        { role: "tool", callId: "c1", name: "1-srv__look", content: "found" },
      ],
    });
    expect(JSON.stringify(bench.sent(1))).not.toContain('"1-srv__look"');
    expect(bench.sent(0).toolConfig).toMatchObject({
      functionCallingConfig: { allowedFunctionNames: ["_1-srv__look"] },
    });
  });

  it.each(["LANGUAGE", "OTHER", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "WHATEVER_COMES_NEXT"])(
    "takes an end by %s without a word for a failure",
    async (finishReason) => {
      const content = { parts: [{ text: "hm", thought: true }] };
      bench.play(streaming({ candidates: [{ content, finishReason }], usageMetadata: { promptTokenCount: 5 } }));
      await expect(bench.chat()).rejects.toMatchObject({ type: "downstream_service_error" });
    },
  );

  it("keeps text before an unusual finish reason", async () => {
    bench.play(streaming({ candidates: [{ content: { parts: [{ text: "ok" }] }, finishReason: "OTHER" }] }));
    expect(await bench.chat()).toMatchObject({ text: "ok", stop: "end" });
  });

  it("sends the response schema, or the answer tool together with tools", async () => {
    bench.play(
      answering({ text: ['{"n":1}'], usage }),
      answering({ toolCalls: [{ id: "c", name: "gantry_submit_answer", arguments: '{"n":2}' }], usage }),
    );
    expect((await bench.chat({ responseSchema: schema })).text).toBe('{"n":1}');
    expect(bench.sent().generationConfig).toEqual({
      responseMimeType: "application/json",
      responseSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    });
    const second = await bench.chat({ responseSchema: schema, tools: [tool] });
    expect(second).toMatchObject({ text: '{"n":2}', toolCalls: [], stop: "end" });
    expect(bench.sent(1).toolConfig).toEqual({ functionCallingConfig: { mode: "ANY" } });
  });
});
