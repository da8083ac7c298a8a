import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createNet } from "../../net/create-net.ts";
import type { NativeEvent, NativeRequest, Protocol } from "../chat.ts";
import { Interrupted } from "../driver.ts";
import { keyed } from "../test-upstreams/keyed.ts";
import {
  answering,
  beginning,
  beginStream,
  crumbling,
  type Dialect,
  refusing,
  type ScriptedAnswer,
  TextUpstream,
} from "../test-upstreams/text-upstream.ts";
import { countTokens } from "../token-count.ts";
import { type CreateTextBackend, testKey } from "./backend.contract.ts";

const usage = { input: 25, output: 9, cached: 10 };
const answer: ScriptedAnswer = {
  reasoning: ["hm"],
  text: ["Grüße, ", "Welt", ' – "你好"', " 👩‍🚀!", "\n done"],
  toolCalls: [{ id: "toolu_1", name: "get_weather", arguments: '{"place":"Zürich"}' }],
  usage,
};

/** The data of the blocks, as a client of the upstream itself would read them. */
function dataOf(blocks: readonly string[]): string[] {
  return blocks.map((block) => block.slice(block.indexOf("data: ") + 6));
}

/** Contract of backends that accept native requests of their own protocol. */
export function describeNative(dialect: Dialect, create: CreateTextBackend, protocol: Protocol): void {
  describe(`${protocol}: native requests`, () => {
    const net = createNet({ allowPrivateNetwork: true });
    const upstream = new TextUpstream(dialect);
    beforeAll(async () => {
      await upstream.start();
      await countTokens("x");
    });
    afterAll(async () => {
      await net.close();
      await upstream.stop();
    });

    const messages = [
      { role: "user", content: [{ type: "text", text: "Hello", cache_control: { type: "ephemeral" } }] },
    ];
    const body = { model: "owner/name", messages, metadata: { unknown: [1, null] }, max_tokens: 50 };

    function native(more: Partial<NativeRequest> = {}, signal = new AbortController().signal, maxTokens = 100) {
      const driver = create({ net, url: upstream.url, model: "m-1", ...keyed(testKey) });
      return driver.chat({
        // Doors do not translate a native request.
        messages: [],
        maxTokens,
        signal,
        onText: () => expect.unreachable("A native request has no other callbacks"),
        native: { protocol, body, stream: true, ...more },
      });
    }

    function relayed(events: NativeEvent[]): (event: NativeEvent) => void {
      return (event) => void events.push(event);
    }

    it("are announced", () => {
      expect(create({ net, url: upstream.url, model: "m-1", ...keyed(testKey) }).protocol).toBe(protocol);
    });

    it.each([1000, 3])("pass each event on as it arrived, in pieces of %i bytes", async (crumb) => {
      upstream.play(crumbling(answer, crumb));
      const events: NativeEvent[] = [];
      const result = await native({ onEvent: relayed(events) });
      const pings = dialect.ping.startsWith(":") ? [] : dataOf([dialect.ping]);
      const sent = events.filter(({ data }) => !pings.includes(data)).map(({ data }) => data);
      expect(sent).toEqual(dataOf(dialect.blocks(answer)));
      expect(result).toMatchObject({
        text: answer.text?.join(""),
        reasoning: "hm",
        stop: "tool_calls",
        toolCalls: [{ id: "toolu_1", name: "get_weather", arguments: { place: "Zürich" } }],
        usage: { inputTokens: 25, outputTokens: 9, cachedTokens: 10 },
      });
      expect(result.native).toBeUndefined();
    });

    it("split events that contain only text, always around the same parts", async () => {
      upstream.play(answering(answer));
      const events: NativeEvent[] = [];
      await native({ onEvent: relayed(events) });
      const within = events.flatMap(({ data, around }) => (around ? [{ data, around }] : []));
      expect(within.map(({ around }) => JSON.parse(`"${around.text}"`) as string)).toEqual(answer.text?.slice(1));
      for (const { data, around } of within) {
        expect(around.before + around.text + around.after).toBe(data);
        expect(around).toMatchObject({ before: within[0]?.around.before, after: within[0]?.around.after });
      }
    });

    it("arrive unchanged except for the model's name and what Gantry needs", async () => {
      upstream.play(answering({ text: ["ok"], usage }));
      await native({ onEvent: () => {} });
      const { model, stream, stream_options, ...others } = upstream.requests[0]?.body ?? {};
      expect({ model, stream }).toEqual({ model: "m-1", stream: true });
      const { model: _, ...given } = body;
      expect(others).toEqual(given);
      expect(stream_options).toEqual(protocol === "openai-chat" ? { include_usage: true } : undefined);
    });

    it.each<[given: object, limit: number, sent: number]>([
      [{}, 100, 100],
      [{ max_tokens: 50 }, 100, 50],
      [{ max_tokens: 500 }, 100, 100],
      [{ max_tokens: null }, 100, 100],
      [{ max_tokens: "many" }, 100, 100],
    ])("with the limit %j and %i reserved tokens ask for %i tokens", async (given, limit, sent) => {
      upstream.play(answering({ text: ["ok"], usage }));
      await native({ body: { model: "x", messages, ...given }, onEvent: () => {} }, undefined, limit);
      expect(upstream.requests[0]?.body).toMatchObject({ max_tokens: sent });
    });

    it("that are not streamed get the body, and the answer is read from it", async () => {
      upstream.play(answering(answer));
      const result = await native({ stream: false });
      expect(upstream.requests[0]?.body).toMatchObject({ stream: false, model: "m-1" });
      expect(upstream.requests[0]?.headers.accept).toBe("application/json");
      expect(result.native).toEqual(dialect.whole?.(answer));
      expect(result).toMatchObject({
        text: answer.text?.join(""),
        reasoning: "hm",
        stop: "tool_calls",
        toolCalls: [{ id: "toolu_1", name: "get_weather", arguments: { place: "Zürich" } }],
        usage: { inputTokens: 25, outputTokens: 9, cachedTokens: 10 },
      });
    });

    it.each(["length", "refused"] as const)("that are not streamed report the end %s", async (stop) => {
      upstream.play(answering({ text: ["par"], usage, stop }));
      expect((await native({ stream: false })).stop).toBe(stop);
    });

    it.each([
      ["JSON that is not an object", "[]"],
      ["an empty object", "{}"],
      ["text", "<html>"],
      ["deep JSON", `{"a":${"[".repeat(5000)}${"]".repeat(5000)}}`],
      ["a long answer", `"${"x".repeat(33 * 1024 * 1024)}"`],
    ])("that are not streamed fail on %s", async (_, text) => {
      upstream.play(({ response }) => {
        response.writeHead(200, { "content-type": "application/json" }).end(text);
      });
      await expect(native({ stream: false })).rejects.toMatchObject({ type: "downstream_service_error" });
    });

    it.each([true, false])("are counted here if the upstream does not report usage, streamed: %s", async (stream) => {
      upstream.play(({ response, dialect: { whole, blocks } }) => {
        const unreported = { ...whole?.({ text: ["one two three"] }), usage: undefined };
        response.writeHead(200, { "content-type": stream ? "text/event-stream" : "application/json" });
        const streamed = blocks({ text: ["one two three"] }).map((block) => `${block}\n\n`);
        response.end(stream ? streamed.join("") : JSON.stringify(unreported));
      });
      const { usage: counted } = await native({ stream, onEvent: () => {} });
      expect(counted).toMatchObject({ outputTokens: 3, estimated: true });
      expect(counted.inputTokens).toBeGreaterThan(0);
    });

    it.each([true, false])("are retried before the first event, streamed: %s", async (stream) => {
      upstream.play(refusing(503, "later"), answering({ text: ["ok"], usage }));
      const events: NativeEvent[] = [];
      expect((await native({ stream, onEvent: relayed(events) })).text).toBe("ok");
      expect(upstream.requests).toHaveLength(2);
      if (stream) expect(events.map(({ data }) => data)).toEqual(dataOf(dialect.blocks({ text: ["ok"], usage })));
    });

    it("are not retried after an event, and errors of the upstream are not passed on", async () => {
      upstream.play(({ response }) => {
        beginStream(response);
        const [first] = dialect.blocks({ text: ["par"], usage });
        response.end(`${first}\n\n${dialect.errorBlock("overloaded", "secret db-7")}\n\n`);
      });
      const events: NativeEvent[] = [];
      const work = native({ onEvent: relayed(events) });
      await expect(work).rejects.toMatchObject({ type: "downstream_service_unavailable" });
      expect(upstream.requests).toHaveLength(1);
      expect(events).toHaveLength(1);
    });

    it("of another protocol are ignored: the messages are sent", async () => {
      upstream.play(answering({ text: ["ok"], usage }));
      const driver = create({ net, url: upstream.url, model: "m-1", ...keyed(testKey) });
      const other = protocol === "anthropic" ? "openai-chat" : "anthropic";
      const texts: string[] = [];
      await driver.chat({
        messages: [{ role: "user", content: "Hello" }],
        signal: new AbortController().signal,
        onText: (text) => void texts.push(text),
        native: { protocol: other, body: {}, stream: true, onEvent: () => expect.unreachable("not spoken") },
      });
      expect(texts).toEqual(["ok"]);
      expect(JSON.stringify(upstream.requests[0]?.body)).toContain("Hello");
    });

    it("wait for a slow reader", async () => {
      upstream.play(answering(answer));
      let open = 0;
      let most = 0;
      const events: string[] = [];
      await native({
        async onEvent({ data }) {
          most = Math.max(most, ++open);
          await sleep(1);
          events.push(data);
          open--;
        },
      });
      expect(most).toBe(1);
      expect(events).toEqual(dataOf(dialect.blocks(answer)));
    });

    it.each([
      ["in the middle of a stream", true],
      ["while a reader is slow", true],
      ["before an answer that is not streamed", false],
    ])("end within 100 ms after an abort %s and report usage", { retry: 2 }, async (how, stream) => {
      upstream.play(beginning(["one two three"], () => {}));
      if (!stream) upstream.play(() => {});
      const stop = new AbortController();
      const isSlow = how.includes("slow");
      const events: NativeEvent[] = [];
      const onEvent = (event: NativeEvent) => {
        events.push(event);
        if (isSlow && event.data.includes("one two")) return new Promise<void>(() => {});
      };
      const work = native({ stream, onEvent }, stop.signal).catch((thrown: unknown) => thrown);
      await expect
        .poll(() => (stream ? events.some(({ data }) => data.includes("one two")) : upstream.requests.length === 1))
        .toBe(true);
      const abortedAt = performance.now();
      stop.abort(new Error("the client left"));
      const error = await work;
      expect(performance.now() - abortedAt).toBeLessThan(5_000);
      expect(error).toBeInstanceOf(Interrupted);
      const usage = await (error as Interrupted).usage();
      expect(usage?.outputTokens).toBe(stream ? 3 : 0);
      expect(usage?.inputTokens).toBeGreaterThan(0);
      await expect.poll(() => upstream.brokenOffAt.length).toBe(1);
      expect((upstream.brokenOffAt[0] ?? 0) - abortedAt).toBeLessThan(100);
    });
  });
}
