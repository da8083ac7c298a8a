import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Fault } from "../../../kernel/errors.ts";
import type { ChatMessage, ToolCallPiece } from "../chat.ts";
import { sentenceAboutRequest } from "../driver.ts";
import { openTextBench, type TextBench } from "../test-upstreams/text-bench.ts";
import { answering, crumbling, type Dialect, refusing } from "../test-upstreams/text-upstream.ts";
import { type CreateTextBackend, testKey } from "./backend.contract.ts";

const usage = { input: 3, output: 2 };
const image = { type: "image", contentType: "image/png", base64: "cGljdHVyZQ==" } as const;
const weather = {
  name: "get_weather",
  description: "The weather of a place",
  parameters: { type: "object", properties: { place: { type: "string" } } },
};
/** Not an object, so it is sent as a field of one. */
const counter = { name: "count", description: "Counts.", parameters: { type: "array", items: { type: "number" } } };
const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

/** Contract of the parts of the chat port that every protocol writes in its own way. */
export function describeChatPort(name: string, dialect: Dialect, create: CreateTextBackend): void {
  describe(`${name}: chat port`, () => {
    let bench: TextBench;
    beforeAll(async () => {
      bench = await openTextBench(dialect, create);
    });
    afterAll(() => bench.close());

    const sent = (n = 0) => JSON.stringify(bench.sent(n));

    describe("content parts", () => {
      it("of a user are sent in order", async () => {
        bench.play(answering({ text: ["ok"], usage }));
        const content = [{ type: "text", text: "before" } as const, image, { type: "text", text: "after" } as const];
        await bench.chat({ messages: [{ role: "user", content }] });
        const at = ["before", image.base64, "after"].map((text) => sent().indexOf(text));
        expect(at.every((place) => place > 0)).toBe(true);
        expect(at).toEqual(at.toSorted((one, other) => one - other));
      });

      it("of tool results are sent, with the results of parallel calls", async () => {
        bench.play(answering({ text: ["ok"], usage }));
        const calls = ["toolu_1", "toolu_2"].map((id) => ({ id, name: "get_weather", arguments: {} }));
        const results = calls.map(({ id }, n): ChatMessage => {
          const content = [{ type: "text", text: `result ${n}` } as const, { ...image, base64: `aW1hZ2U${n}` }];
          return { role: "tool", callId: id, name: "get_weather", content };
        });
        const conversation: ChatMessage[] = [
          { role: "user", content: "Hello" },
          { role: "assistant", text: "", toolCalls: calls },
          ...results,
        ];
        await bench.chat({ tools: [weather], messages: conversation });
        await bench.chat({ tools: [weather], messages: [...conversation, { role: "user", content: "And?" }] });
        expect(bench.upstream.requests).toHaveLength(2);
        for (const n of [0, 1]) {
          for (const text of ["result 0", "result 1", "aW1hZ2U0", "aW1hZ2U1"]) expect(sent(n)).toContain(text);
        }
      });

      it("of a tool result may be images alone", async () => {
        bench.play(answering({ text: ["ok"], usage }));
        await bench.chat({
          tools: [weather],
          messages: [
            { role: "user", content: "Hello" },
            { role: "assistant", text: "", toolCalls: [{ id: "toolu_1", name: "get_weather", arguments: {} }] },
            { role: "tool", callId: "toolu_1", name: "get_weather", content: [image] },
          ],
        });
        expect(sent()).toContain(image.base64);
      });
    });

    describe("tool calls", () => {
      const calls = [
        { id: "toolu_1", name: "get_weather", arguments: '{"place":"Zürich"}' },
        { id: "toolu_2", name: "get_weather", arguments: "{}" },
      ];

      async function piecesOf(call: Parameters<TextBench["chat"]>[0]) {
        const pieces: ToolCallPiece[] = [];
        const texts: string[] = [];
        const onToolCall = async (piece: ToolCallPiece) => {
          await null;
          pieces.push(piece);
        };
        const result = await bench.chat({ ...call, onToolCall, onText: (text) => void texts.push(text) });
        return { pieces, texts, result };
      }

      it.each([1000, 7])("arrive in pieces that begin with an empty one, from chunks of %i bytes", async (crumb) => {
        bench.play(crumbling({ text: ["I look."], toolCalls: calls, usage }, crumb));
        const { pieces, texts, result } = await piecesOf({ tools: [weather] });
        expect(texts).toEqual(["I look."]);
        for (const [index, call] of calls.entries()) {
          const own = pieces.filter((piece) => piece.index === index);
          expect(own[0]).toEqual({ index, id: call.id, name: call.name, arguments: "" });
          expect(own.slice(1).every((piece) => piece.arguments !== "")).toBe(true);
          expect(own.map((piece) => piece.arguments).join("")).toBe(call.arguments);
          expect(own.every((piece) => piece.id === call.id && piece.name === call.name)).toBe(true);
        }
        expect(new Set(pieces.map(({ index }) => index))).toEqual(new Set([0, 1]));
        expect(result.toolCalls).toHaveLength(2);
      });

      it("with converted arguments arrive restored, in one piece", async () => {
        bench.play(answering({ toolCalls: [{ id: "toolu_1", name: "count", arguments: '{"value":[1,2]}' }], usage }));
        const { pieces } = await piecesOf({ tools: [counter] });
        expect(pieces.map((piece) => piece.arguments)).toEqual(["", "[1,2]"]);
      });

      it("of the answer tool do not arrive", async () => {
        bench.play(
          answering({
            toolCalls: [
              { id: "toolu_1", name: "gantry_submit_answer", arguments: '{"n":1}' },
              { id: "toolu_2", name: "get_weather", arguments: '{"place":"Oslo"}' },
            ],
            usage,
          }),
        );
        const { pieces } = await piecesOf({ tools: [weather], responseSchema: schema });
        expect(new Set(pieces.map(({ name: tool, index }) => `${index} ${tool}`))).toEqual(new Set(["0 get_weather"]));
      });

      it("are not retried once a piece has arrived", async () => {
        bench.play(({ response }) => {
          response.writeHead(200, { "content-type": "text/event-stream" });
          const blocks = dialect.blocks({ toolCalls: calls, usage });
          const begun = blocks.findIndex((block) => block.includes("toolu_1"));
          for (const block of blocks.slice(0, begun + 1)) response.write(`${block}\n\n`);
          response.end(`${dialect.errorBlock("overloaded", "later")}\n\n`);
        });
        await expect(piecesOf({ tools: [weather] })).rejects.toMatchObject({ type: "downstream_service_unavailable" });
        expect(bench.upstream.requests).toHaveLength(1);
      });
    });

    describe("a refusal", () => {
      const refused = async () => (await bench.chat().catch((thrown: unknown) => thrown)) as Fault;

      it.each([400, 413, 422])("with %i about the request is quoted to doors only, without the key", async (status) => {
        bench.play(refusing(status, `prompt is too long: 9 > 8 ${testKey}`));
        const fault = await refused();
        expect(fault).toMatchObject({ type: "downstream_service_error", status: 502 });
        expect(sentenceAboutRequest(fault)).toBe("prompt is too long: 9 > 8 [hidden]");
        expect(JSON.stringify(fault.issues) + fault.message).not.toContain("prompt");
      });

      it.each([401, 403, 404, 500])("with %i is not quoted", async (status) => {
        bench.play(refusing(status, "prompt is too long"));
        const fault = await refused();
        expect(fault.type).toBe("downstream_service_error");
        expect(sentenceAboutRequest(fault)).toBeUndefined();
      });
    });

    it("sends stop texts, sampling and the end of parallel calls", async () => {
      bench.play(answering({ text: ["ok"], usage }));
      await bench.chat({ stop: ["END", "\n\n"], topP: 0.5, seed: 7, parallelToolCalls: false, tools: [weather] });
      expect(bench.upstream.requests).toHaveLength(1);
      expect(sent()).toContain(JSON.stringify(["END", "\n\n"]));
      expect(sent()).toContain("0.5");
    });

    it("sends nothing for fields that are not given", async () => {
      bench.play(answering({ text: ["ok"], usage }));
      await bench.chat({ stop: [], tools: [weather] });
      expect(sent()).not.toMatch(/stop|top_?p|seed|parallel|reasoning|thinking|format|mime/i);
    });

    it("asks for JSON of any shape", async () => {
      bench.play(answering({ text: ['{"n":1}'], usage }));
      const result = await bench.chat({ responseFormat: "json" });
      expect(result.text).toBe('{"n":1}');
      expect(sent()).toMatch(/json_object|application\/json|gantry_submit_answer/);
    });

    it.each(["none", "minimal", "low", "medium", "high", "xhigh"] as const)(
      "accepts the effort %s with tools, results and a small limit",
      async (reasoningEffort) => {
        bench.play(answering({ text: ["ok"], usage }));
        const call = { id: "toolu_1", name: "get_weather", arguments: {} };
        const messages: ChatMessage[] = [
          { role: "user", content: "Hello" },
          { role: "assistant", text: "", toolCalls: [call], reasoning: "I think" },
          { role: "tool", callId: "toolu_1", name: "get_weather", content: "sunny" },
        ];
        await bench.chat({ reasoningEffort, temperature: 0.2, maxTokens: 10_000 });
        await bench.chat({ reasoningEffort, maxTokens: 20 });
        await bench.chat({ reasoningEffort, tools: [weather], toolChoice: "required", maxTokens: 10_000 });
        await bench.chat({ reasoningEffort, tools: [weather], messages, maxTokens: 10_000 });
        expect(bench.upstream.requests).toHaveLength(4);
      },
    );
  });
}
