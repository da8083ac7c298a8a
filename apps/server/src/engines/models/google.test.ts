import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGoogle } from "./google.ts";
import { toGoogleSchema } from "./google-schema.ts";
import { googleDialect } from "./test-upstreams/google.dialect.ts";
import { openTextBench, picture, streaming, type TextBench } from "./test-upstreams/text-bench.ts";
import { answering } from "./test-upstreams/text-upstream.ts";
import { describeTextBackend } from "./text-backend.contract.ts";

describeTextBackend("google", googleDialect, createGoogle);

const usage = { input: 3, output: 2 };
const tool = { name: "look_up", description: "Looks up", parameters: { type: "object", properties: {} } };
const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false };

describe("google: its own ways", () => {
  let bench: TextBench;
  beforeAll(async () => {
    bench = await openTextBench(googleDialect, createGoogle);
  });
  afterAll(() => bench.close());

  it("writes a prediction's inputs where they belong", async () => {
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
        { role: "user", parts: [{ text: "Hi" }, { inlineData: { mimeType: "image/png", data: "cGljdHVyZQ==" } }] },
      ],
      systemInstruction: { parts: [{ text: "Be brief" }] },
      generationConfig: { maxOutputTokens: 7, seed: 1, topK: 5 },
    });
  });

  it("counts thoughts as output and passes the whole report on", async () => {
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

  it("does not wait for a server that has finished its answer and keeps the connection open", async () => {
    bench.play(({ response }) => {
      const candidates = [{ content: { parts: [{ text: "ok" }] }, finishReason: "STOP" }];
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify({ candidates, usageMetadata: { promptTokenCount: 4 } })}\n\n`);
    });
    const started = performance.now();
    expect((await bench.chat()).text).toBe("ok");
    expect(performance.now() - started).toBeLessThan(900);
  });

  it("knows a refused prompt", async () => {
    bench.play(streaming({ promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 4 } }));
    expect((await bench.chat()).stop).toBe("refused");
    await expect(bench.run({ prompt: "Hi" })).rejects.toMatchObject({ type: "content_policy_violation" });
  });

  it("tries a malformed call again", async () => {
    bench.play(
      streaming({ candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL" }] }),
      answering({ text: ["ok"], usage }),
    );
    expect((await bench.chat()).text).toBe("ok");
  });

  it("names calls that have no id, and does not send that name back", async () => {
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

  it("sends signed parts back as they came", async () => {
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

  it("binds an answer to its schema, beside tools by a tool", async () => {
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

describe("toGoogleSchema", () => {
  it("writes references out and keeps what Gemini knows", () => {
    const given = {
      $defs: { size: { $ref: "#/$defs/real" }, real: { type: "string", enum: ["s", "m"], "x-note": 1 } },
      type: "object",
      properties: {
        size: { $ref: "#/$defs/size" },
        count: { type: ["integer", "null"], format: "int32", exclusiveMinimum: 0 },
        when: { type: "string", format: "email" },
        either: { oneOf: [{ const: "a" }, { type: "number" }, { type: "null" }] },
        list: { type: "array" },
      },
      required: ["size", "ghost"],
    };
    expect(toGoogleSchema(given)).toEqual({
      type: "object",
      properties: {
        size: { type: "string", enum: ["s", "m"] },
        count: { type: "integer", nullable: true, format: "int32" },
        when: { type: "string" },
        either: { nullable: true, anyOf: [{ type: "string", enum: ["a"] }, { type: "number" }] },
        list: { type: "array", items: {} },
      },
      required: ["size"],
    });
  });

  it("ends with a schema that has no end", () => {
    const node = { type: "object", properties: { left: { $ref: "#" }, right: { $ref: "#/" } } };
    const endless = {
      $defs: { n: { type: "object", properties: { l: { $ref: "#/$defs/n" }, r: { $ref: "#/$defs/n" } } } },
      properties: { a: { $ref: "#/$defs/n" }, b: { $ref: "#/$defs/loop" }, c: node },
    };
    expect(JSON.stringify(toGoogleSchema(endless)).length).toBeLessThan(200_000);
  });
});
