import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fault } from "../../../kernel/errors.ts";
import { createNet } from "../../net/create-net.ts";
import type { Net, NetBounds } from "../../net/net.ts";
import type { ChatCall, ChatDriver, ChatMessage } from "../chat.ts";
import { Interrupted, type ModelCall, type ModelDriver } from "../driver.ts";
import type { Mask } from "../mask.ts";
import { keyed } from "../test-upstreams/keyed.ts";
import {
  answering,
  beginning,
  beginStream,
  crumbling,
  type Dialect,
  refusing,
  resetting,
  TextUpstream,
} from "../test-upstreams/text-upstream.ts";
import { countTokens } from "../token-count.ts";

export const testKey = "sk-secret-4711";

export type CreateTextBackend = (options: {
  net: Net;
  url: string;
  model: string;
  key: string;
  mask: Mask;
  bounds?: Partial<NetBounds>;
}) => ModelDriver & ChatDriver;

const verse = ["Grüße, ", "Welt", " – 你好", " 👩‍🚀!", "\n", '"quoted" \\ done'];
const usage = { input: 25, output: 9, cached: 10 };
const hello: ChatMessage[] = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Hello" },
];
const weather = {
  name: "get_weather",
  description: "The weather of a place",
  parameters: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { place: { type: "string" }, unit: { oneOf: [{ const: "C" }, { const: "F" }] } },
    required: ["place"],
    additionalProperties: false,
  },
};

/** Contract of every text backend, against a server with its protocol over real connections. */
export function describeTextBackend(name: string, dialect: Dialect, create: CreateTextBackend): void {
  describe(`${name}: text backend`, () => {
    const net = createNet({ allowPrivateNetwork: true });
    const upstream = new TextUpstream(dialect);
    beforeAll(async () => {
      await upstream.start();
      // Loading the tokenizer's tables blocks the event loop of the server that measures the time to disconnect.
      await countTokens("x");
    });
    afterAll(async () => {
      await net.close();
      await upstream.stop();
    });

    const driver = (bounds?: Partial<NetBounds>) =>
      create({ net, url: upstream.url, model: "m-1", ...keyed(testKey), ...(bounds && { bounds }) });

    function chat(call: Partial<ChatCall> = {}, bounds?: Partial<NetBounds>) {
      return driver(bounds).chat({ messages: hello, signal: new AbortController().signal, ...call });
    }

    async function run(call: Partial<ModelCall> = {}) {
      const fragments: string[] = [];
      const result = await driver().run({
        predictionId: "pred_1",
        input: { prompt: "Hello" },
        signal: new AbortController().signal,
        onFragment: (field, text) => void fragments.push(`${field}:${text}`),
        ...call,
      });
      return { ...result, fragments };
    }

    async function faultOf(work: Promise<unknown>): Promise<Fault> {
      const error = await work.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(Fault);
      return error as Fault;
    }

    describe("an answer", () => {
      it("arrives in fragments and as a whole, with the usage of the last event", async () => {
        upstream.play(answering({ text: verse, usage }));
        const result = await run();
        expect(result.fragments).toEqual(verse.map((piece) => `output:${piece}`));
        expect(result.output).toEqual({ output: verse.join("") });
        expect(result.usage).toMatchObject({ inputTokens: 25, outputTokens: 9, cachedTokens: 10 });
        expect(result.usage).not.toHaveProperty("estimated");
      });

      it.each([
        [1, "\n"],
        [2, "\n"],
        [5, "\r\n"],
        [3, "\r"],
      ])("survives pieces of %i bytes with line ends %j", async (crumb, lineEnd) => {
        upstream.play(crumbling({ text: verse, reasoning: ["mußte ", "nachdenken"], usage }, crumb, lineEnd));
        const pieces: string[] = [];
        const thoughts: string[] = [];
        const result = await chat({
          onText: (text) => void pieces.push(text),
          onReasoning: (text) => void thoughts.push(text),
        });
        expect(pieces).toEqual(verse);
        expect(thoughts).toEqual(["mußte ", "nachdenken"]);
        expect(result).toMatchObject({ text: verse.join(""), reasoning: "mußte nachdenken", stop: "end" });
        expect(result.usage).toMatchObject({ inputTokens: 25, outputTokens: 9, cachedTokens: 10 });
      });

      it("is counted here if the upstream does not report usage", async () => {
        upstream.play(answering({ text: ["one two", " three four"] }));
        const { usage: counted } = await chat();
        expect(counted).toEqual({ inputTokens: 4, outputTokens: 4, estimated: true });
      });

      it("may be cut at the token limit", async () => {
        upstream.play(answering({ text: ["long"], usage, stop: "length" }));
        expect((await chat({ maxTokens: 1 })).stop).toBe("length");
      });

      it("may be refused: a stop reason of a chat, a fault of a prediction", async () => {
        upstream.play(answering({ text: [], usage, stop: "refused" }));
        expect((await chat()).stop).toBe("refused");
        const refused = await faultOf(run());
        expect(refused).toMatchObject({ type: "content_policy_violation", retryable: false });
      });
    });

    describe("tools", () => {
      const calls = [
        { id: "toolu_1", name: "get_weather", arguments: '{"place":"Zürich","unit":"C"}' },
        { id: "toolu_2", name: "get_weather", arguments: '{"place":"Łódź"}' },
      ];

      it("are called, also in parallel, and their results are sent back", async () => {
        upstream.play(
          answering({ reasoning: ["hm"], text: ["I look."], toolCalls: calls, usage }),
          answering({ text: ["Sunny."], usage }),
        );
        const first = await chat({ tools: [weather] });
        expect(first.stop).toBe("tool_calls");
        expect(first.toolCalls).toEqual(calls.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) })));
        const { text, toolCalls, opaque } = first;
        // A run stores its messages in between.
        const stored = JSON.parse(JSON.stringify({ role: "assistant", text, toolCalls, opaque })) as ChatMessage;
        const second = await chat({
          tools: [weather],
          messages: [
            ...hello,
            stored,
            { role: "tool", callId: "toolu_1", name: "get_weather", content: "sunny" },
            { role: "tool", callId: "toolu_2", name: "get_weather", content: "no such place", isError: true },
          ],
        });
        expect(second.text).toBe("Sunny.");
        expect(upstream.requests).toHaveLength(2);
        const sent = JSON.stringify(upstream.requests[1]?.body);
        expect(sent).toContain("sunny");
        expect(sent).toContain("no such place");
      });

      it("of any JSON Schema are converted for the upstream, and their arguments restored", async () => {
        const free = { type: "object", additionalProperties: { type: "string" }, description: "By name." };
        const tools = [
          {
            name: "9-server__send",
            description: "",
            parameters: {
              type: "object",
              properties: {
                url: { type: "string" },
                headers: free,
                anything: {},
                either: { anyOf: [{}, {}] },
                list: { type: "array", items: {} },
                deep: { type: "object", properties: { meta: { type: "object" } } },
                level: { enum: [1, 2] },
                version: { const: 3 },
                body: { type: ["string", "object"] },
              },
            },
          },
          {
            name: "attach",
            description: "Attaches.",
            parameters: {
              type: "object",
              properties: { url: { type: "string" }, file: { type: "string" } },
              anyOf: [{ required: ["url"] }, { required: ["file"] }],
            },
          },
          {
            name: "draw",
            description: "Draws.",
            parameters: {
              oneOf: [
                {
                  type: "object",
                  properties: { kind: { const: "circle" }, r: { type: "number" } },
                  required: ["kind", "r"],
                },
                { $ref: "#/$defs/square" },
              ],
              $defs: {
                square: {
                  type: "object",
                  properties: { kind: { const: "square" }, a: { type: "number" } },
                  required: ["kind"],
                },
              },
            },
          },
          {
            name: "all",
            description: "",
            parameters: { allOf: [{ type: "object", properties: { x: { type: "string" } } }] },
          },
          { name: "free", description: "", parameters: { type: "object", additionalProperties: true } },
        ];
        const given = { url: "https://a", headers: { a: "b" }, deep: { meta: { c: [1] } }, list: [{ d: 1 }], level: 2 };
        upstream.play(
          answering({ toolCalls: [{ id: "toolu_1", name: "attach", arguments: '{"url":"https://a"}' }], usage }),
          // The model may ignore the request to write a value as text.
          answering({
            toolCalls: [{ id: "toolu_2", name: tools[0]?.name ?? "", arguments: JSON.stringify(given) }],
            usage,
          }),
        );
        expect((await chat({ tools })).toolCalls).toMatchObject([{ name: "attach", arguments: { url: "https://a" } }]);
        expect((await chat({ tools })).toolCalls).toEqual([
          { id: "toolu_2", name: "9-server__send", arguments: given },
        ]);
        expect(upstream.requests).toHaveLength(2);
      });

      it.each([
        ["a union", { anyOf: [{ type: "object", properties: { a: { type: "integer" } } }, { type: "object" }] }],
        ["an object of any kind", { type: "object" }],
        ["an object with parts of any kind", { type: "object", properties: { a: { type: "object" } } }],
        ["nothing in particular", {}],
      ])("beside an answer that is %s are all accepted", async (_, responseSchema) => {
        upstream.play(answering({ text: ["{}"], usage }));
        await chat({ responseSchema, tools: [weather] });
        await chat({ responseSchema });
        expect(upstream.requests.length).toBe(2);
      });

      it("may be called without arguments", async () => {
        upstream.play(answering({ toolCalls: [{ id: "toolu_1", name: "now", arguments: "{}" }], usage }));
        const { toolCalls } = await chat({ tools: [{ name: "now", description: "", parameters: { type: "object" } }] });
        expect(toolCalls).toEqual([{ id: "toolu_1", name: "now", arguments: {} }]);
      });

      it.each([41, 3000])(
        "that are called with arguments nested %i levels deep get none, and the call goes back",
        async (n) => {
          const nested = `{"place":${"[".repeat(n - 1)}${"]".repeat(n - 1)}}`;
          const deep = { id: "toolu_1", name: "get_weather", arguments: nested };
          upstream.play(
            answering({ reasoning: ["hm"], toolCalls: [deep, { ...deep, id: "toolu_2", arguments: "{}" }], usage }),
            answering({ text: ["Well."], usage }),
          );
          const { text, toolCalls, opaque } = await chat({ tools: [weather] });
          expect(toolCalls).toEqual([
            { id: "toolu_1", name: "get_weather", arguments: { __invalid: expect.any(String) } },
            { id: "toolu_2", name: "get_weather", arguments: {} },
          ]);
          const stored = JSON.parse(JSON.stringify({ role: "assistant", text, toolCalls, opaque })) as ChatMessage;
          const results = toolCalls.map(({ id, name: tool }) => ({
            role: "tool",
            callId: id,
            name: tool,
            content: "no",
          }));
          await chat({ tools: [weather], messages: [...hello, stored, ...(results as ChatMessage[])] });
          expect(JSON.stringify(upstream.requests[1]?.body)).toContain("__invalid");
        },
      );

      it("may be called with arguments nested 40 levels deep", async () => {
        const nested = `{"place":${"[".repeat(39)}${"]".repeat(39)}}`;
        upstream.play(answering({ toolCalls: [{ id: "toolu_1", name: "get_weather", arguments: nested }], usage }));
        expect((await chat({ tools: [weather] })).toolCalls[0]?.arguments).toEqual(JSON.parse(nested));
      });
    });

    describe("a failing upstream", () => {
      const secretText = `internal host db-7.corp said no to ${testKey}`;

      function expectNothingLeaks(fault: Fault) {
        const seen = JSON.stringify(fault.issues) + fault.message + JSON.stringify(fault.headers);
        for (const secret of ["db-7", testKey, "127.0.0.1", upstream.url]) expect(seen).not.toContain(secret);
        const cause = fault.cause as { body?: string; message: string };
        expect(`${cause.body ?? ""}${cause.message}`).not.toContain(testKey);
      }

      it.each([400, 401, 403, 404, 302])("with %i fails at once", async (status) => {
        upstream.play(refusing(status, secretText));
        const fault = await faultOf(chat());
        expect(fault).toMatchObject({ type: "downstream_service_error", status: 502, retryable: false });
        expect(upstream.requests).toHaveLength(1);
        expect((fault.cause as { body: string }).body).toContain("db-7.corp said no to [hidden]");
        expectNothingLeaks(fault);
      });

      it("is retried after the time that it asks for", async () => {
        upstream.play(refusing(429, secretText, { "retry-after": "1" }), answering({ text: ["ok"], usage }));
        expect((await chat()).text).toBe("ok");
        const [first, second] = upstream.requests;
        expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(950);
      });

      it("that asks for a long wait fails at once", async () => {
        upstream.play(refusing(429, secretText, { "retry-after": new Date(Date.now() + 90_000).toUTCString() }));
        const fault = await faultOf(chat());
        expect(fault).toMatchObject({ type: "downstream_service_unavailable", status: 503, retryable: true });
        expect(fault.retryAfterSeconds).toBeGreaterThan(85);
        expect(upstream.requests).toHaveLength(1);
        expectNothingLeaks(fault);
      });

      it.each([
        [500, "downstream_service_error"],
        [503, "downstream_service_unavailable"],
      ])("with %i three times is %s", async (status, type) => {
        upstream.play(refusing(status, secretText));
        const fault = await faultOf(chat());
        expect(fault.type).toBe(type);
        expect(upstream.requests).toHaveLength(3);
        expectNothingLeaks(fault);
      });

      it("that reports an error before its first text is retried", async () => {
        upstream.play(
          ({ response }) => {
            beginStream(response);
            response.end(`${dialect.errorBlock("overloaded", secretText)}\n\n`);
          },
          answering({ text: ["ok"], usage }),
        );
        expect((await chat()).text).toBe("ok");
        expect(upstream.requests).toHaveLength(2);
      });

      it("that reports an error in mid-answer is not retried", async () => {
        upstream.play(
          beginning(["par", "tial"], ({ response }) => {
            response.end(`${dialect.errorBlock("failed", secretText)}\n\n`);
          }),
        );
        const pieces: string[] = [];
        const fault = await faultOf(chat({ onText: (text) => void pieces.push(text) }));
        expect(fault.type).toBe("downstream_service_error");
        expect(pieces).toEqual(["par", "tial"]);
        expect(upstream.requests).toHaveLength(1);
        expectNothingLeaks(fault);
      });

      it("that is overloaded in mid-answer is unavailable", async () => {
        upstream.play(
          beginning(["par"], ({ response }) => {
            response.end(`${dialect.errorBlock("overloaded", secretText)}\n\n`);
          }),
        );
        expect((await faultOf(chat())).type).toBe("downstream_service_unavailable");
      });

      it("whose connection breaks before its first byte is retried", async () => {
        upstream.play(resetting, answering({ text: ["ok"], usage }));
        expect((await chat()).text).toBe("ok");
        expect(upstream.requests).toHaveLength(2);
      });

      it("whose connection breaks in mid-answer is not retried", async () => {
        upstream.play(beginning(["par"], resetting));
        const fault = await faultOf(chat());
        expect(fault.type).toBe("downstream_service_error");
        expect(upstream.requests).toHaveLength(1);
      });

      it("that ends its stream too early fails", async () => {
        upstream.play(beginning(["par"], ({ response }) => void response.end()));
        expect((await faultOf(chat())).type).toBe("downstream_service_error");
      });

      it.each([
        ["an event that is not JSON", "data: {oops\n\n"],
        ["an event without end", `data: ${"x".repeat(1_200_000)}`],
      ])("that sends %s has failed", async (_, bytes) => {
        upstream.play(beginning(["par"], ({ response }) => void response.end(bytes)));
        expect((await faultOf(chat())).type).toBe("downstream_service_error");
      });

      it("that stops sending is unavailable after the idle time", async () => {
        upstream.play(beginning(["par"], () => {}));
        const started = performance.now();
        const fault = await faultOf(chat({}, { idleMs: 300 }));
        expect(fault.type).toBe("downstream_service_unavailable");
        expect(performance.now() - started).toBeLessThan(20_000);
        expect(upstream.requests).toHaveLength(1);
      });

      it("may be silent for as long as any manifest allows", async () => {
        upstream.play(answering({ text: ["ok"], usage }));
        const bounds: (Partial<NetBounds> | undefined)[] = [];
        const watched: Net = {
          ...net,
          request: (request) => net.request(request),
          dispatch: (request, handler) => {
            bounds.push(request.bounds);
            return net.dispatch(request, handler);
          },
        };
        const patient = create({ net: watched, url: upstream.url, model: "m-1", ...keyed(testKey) });
        await patient.chat({ messages: hello, signal: new AbortController().signal });
        const longest = 86_400_000;
        expect(bounds).toHaveLength(1);
        for (const ms of [bounds[0]?.headersMs, bounds[0]?.idleMs, bounds[0]?.totalMs])
          expect(ms).toBeGreaterThan(longest);
      });

      it("that cannot be reached is unavailable", async () => {
        const nowhere = create({ net, url: "http://127.0.0.1:9/v1", model: "m-1", ...keyed(testKey) });
        const fault = await faultOf(nowhere.chat({ messages: hello, signal: new AbortController().signal }));
        expect(fault).toMatchObject({ type: "downstream_service_unavailable", retryable: true });
        expectNothingLeaks(fault);
      });
    });

    describe("an abort", () => {
      it("stops the upstream and reports usage", async () => {
        upstream.play(beginning(["one two three"], () => {}));
        const stop = new AbortController();
        const work = chat({
          signal: stop.signal,
          onText: () => stop.abort(new Error("the client left")),
        });
        const error = await work.catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(Interrupted);
        expect((error as Interrupted).cause).toMatchObject({ message: "the client left" });
        await expect.poll(() => upstream.brokenOffAt.length).toBe(1);
        const usage = await (error as Interrupted).usage();
        expect(usage).toMatchObject({ outputTokens: 3, estimated: true });
        expect(usage?.inputTokens).toBeGreaterThan(0);
      });

      it("works before the upstream has answered", async () => {
        upstream.play(() => {});
        const stop = new AbortController();
        const work = chat({ signal: stop.signal }).catch((thrown: unknown) => thrown);
        await expect.poll(() => upstream.requests.length).toBe(1);
        stop.abort();
        expect(await work).toBeInstanceOf(Interrupted);
        await expect.poll(() => upstream.brokenOffAt.length).toBe(1);
      });

      it("works while waiting for a retry", async () => {
        upstream.play(refusing(503, "later", { "retry-after": "15" }));
        const stop = new AbortController();
        const work = chat({ signal: stop.signal }).catch((thrown: unknown) => thrown);
        await expect.poll(() => upstream.requests.length).toBe(1);
        await sleep(50);
        const abortedAt = performance.now();
        stop.abort();
        expect(await work).toBeInstanceOf(Interrupted);
        expect(performance.now() - abortedAt).toBeLessThan(10_000);
      });

      it("works while waiting for a slow reader", async () => {
        upstream.play(beginning(["one"], () => {}));
        const stop = new AbortController();
        const work = chat({ signal: stop.signal, onText: () => new Promise<void>(() => {}) });
        await expect.poll(() => upstream.requests.length).toBe(1);
        await sleep(30);
        stop.abort();
        await expect(work).rejects.toBeInstanceOf(Interrupted);
      });
    });

    it("applies backpressure for a slow reader and loses nothing", async () => {
      const total = 3000;
      const filler = "x".repeat(10_000);
      let written = 0;
      upstream.play(
        beginning(["start"], async ({ response }) => {
          for (let n = 0; n < total; n++) {
            written++;
            if (!response.write(`${dialect.textBlock(`${n} ${filler}`)}\n\n`)) {
              await new Promise<void>((resolve) => response.once("drain", resolve));
            }
          }
          const blocks = dialect.blocks({ text: ["start"], usage });
          const end = blocks.slice(blocks.indexOf(dialect.textBlock("start")) + 1);
          response.end(end.map((block) => `${block}\n\n`).join(""));
        }),
      );
      let release: () => void = () => {};
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      const seen: string[] = [];
      const work = chat({
        onText: (text) => {
          seen.push(text.split(" ", 1)[0] ?? "");
          return seen.length === 1 ? gate : undefined;
        },
      }).catch((thrown: unknown) => thrown);
      let before = -1;
      for (; written !== before || written === 0; await sleep(500)) before = written;
      expect(seen).toEqual(["start"]);
      // Of 30 MB, only what fits into the buffers of two sockets.
      expect(written).toBeLessThan(total * 0.7);
      release();
      // The answer exceeds the limit, so it ends with a fault. Until then everything arrived in order.
      expect(await work).toMatchObject({ type: "downstream_service_error" });
      expect(seen.length).toBeGreaterThan(800);
      expect(seen.slice(1)).toEqual(seen.slice(1).map((_, n) => String(n)));
    });
  });
}
