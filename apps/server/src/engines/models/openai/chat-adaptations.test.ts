import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChatCall } from "../chat.ts";
import { nativeChat, openAiChatDialect } from "../test-upstreams/openai-chat.dialect.ts";
import { openTextBench, type TextBench } from "../test-upstreams/text-bench.ts";
import { answering, type Behaviour, refusing } from "../test-upstreams/text-upstream.ts";
import { createOpenAiChat } from "./chat.ts";

const answered = answering({ text: ["ok"], usage: { input: 3, output: 2 } });
const failure = { type: "downstream_service_error" };

/** Refuses the requests for which there is a text, and answers the others. */
function refusingIf(textFor: (body: Record<string, unknown>) => string | false | undefined, status = 400): Behaviour {
  return (exchange) => {
    const text = textFor(exchange.body);
    return (text ? refusing(status, text) : answered)(exchange);
  };
}

/** All callers of a model share its driver, so one caller's refusals must not change what others get. */
describe("what a driver learns from refusals", () => {
  let bench: TextBench;
  beforeAll(async () => {
    bench = await openTextBench(openAiChatDialect, createOpenAiChat);
  });
  afterAll(() => bench.close());

  const native = (body: object, stream?: boolean) => bench.chat(nativeChat(body, stream));
  const last = () => bench.sent(bench.upstream.requests.length - 1);

  describe("reports of usage", () => {
    it("stay on if the client's own options are refused", async () => {
      const told = "Unknown parameter: 'stream_options.foo'.";
      bench.play(refusingIf(({ stream_options }) => "foo" in ((stream_options as object) ?? {}) && told));
      await expect(native({ stream_options: { foo: 1 } })).rejects.toMatchObject(failure);
      await native({});
      expect(last().stream_options).toEqual({ include_usage: true });
    });

    it("stay on if the refusal quotes another field", async () => {
      bench.play(refusingIf(({ user }) => user !== undefined && `Invalid 'user': '${user}'`));
      await expect(native({ user: "stream_options" })).rejects.toMatchObject(failure);
      await native({});
      expect(last().stream_options).toEqual({ include_usage: true });
    });

    it("are given up if Gantry's own form is refused", async () => {
      bench.play(refusingIf(({ stream_options }) => stream_options !== undefined && "Unknown field: stream_options"));
      await native({ stream_options: { include_usage: true } });
      expect(last()).not.toHaveProperty("stream_options");
    });
  });

  describe("the name of the limit", () => {
    const [older, newer] = ["max_tokens", "max_completion_tokens"] as const;
    const mistral = {
      type: "extra_forbidden",
      loc: ["body", newer],
      msg: "Extra inputs are not permitted",
      input: 100,
    };
    const unknown: Record<string, string> = {
      Mistral: JSON.stringify({ detail: [mistral] }),
      Azure: `Unrecognized request argument supplied: ${newer}`,
    };
    const limits = () => ({ older: last()[older], newer: last()[newer] });

    it.each(Object.keys(unknown))("is the older one at a server that does not know the newer: %s", async (server) => {
      bench.play(refusingIf((body) => newer in body && unknown[server], 422));
      expect((await native({ [newer]: 7 })).text).toBe("ok");
      expect(limits()).toEqual({ older: 7 });
      await native({ [older]: 8 });
      expect(limits()).toEqual({ older: 8 });
      await native({ [newer]: 9 });
      expect(limits()).toEqual({ older: 9 });
      expect(bench.upstream.requests).toHaveLength(4);
      await bench.chat({ maxTokens: 10 });
      expect(limits()).toEqual({ older: 10 });
    });

    it.each([
      "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 8192 tokens",
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
    ])("stays if the request is at fault: %s", async (told) => {
      const both = told.startsWith("Setting") && { [newer]: 7 };
      bench.play(refusing(400, told), answered);
      await expect(native({ [older]: 7, ...both })).rejects.toMatchObject(failure);
      await native({ [older]: 8 });
      expect(limits()).toEqual({ older: 8 });
    });

    it("changes twice at most", async () => {
      bench.play(refusing(400, `Unsupported parameter: '${older}'. Use '${newer}' instead; '${newer}' is unknown.`));
      for (const _ of [1, 2]) await expect(native({ [older]: 7 })).rejects.toMatchObject(failure);
      expect(bench.upstream.requests.map(({ body }) => newer in body)).toEqual([false, true, true]);
    });
  });

  it.each<[what: string, told: string, given: Partial<ChatCall>, field: string]>([
    [
      "JSON mode stays on if the prompt does not ask for JSON",
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      { responseFormat: "json" },
      "response_format",
    ],
    [
      "the effort is still sent after an unsupported one",
      "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'low'.",
      { reasoningEffort: "none" },
      "reasoning_effort",
    ],
    [
      "a field is still sent after a refused value",
      "Invalid value: 'verbosity'. Supported values are: 'low', 'medium', and 'high'.",
      { extra: { verbosity: "verbosity" } },
      "verbosity",
    ],
    [
      "a field is still sent after an unavailable value",
      "service_tier: flex is not available for this model",
      { extra: { service_tier: "flex" } },
      "service_tier",
    ],
  ])("%s", async (_, told, given, field) => {
    bench.play(refusing(400, told), answered);
    await expect(bench.chat(given)).rejects.toMatchObject(failure);
    expect(bench.upstream.requests).toHaveLength(1);
    await bench.chat(given);
    expect(last()).toHaveProperty(field);
  });

  it("is not about fields of native requests, nor about thoughts in them", async () => {
    bench.play(refusing(400, "Unsupported parameters: 'reasoning_effort', 'reasoning'"), answered);
    await expect(native({ reasoning_effort: "low", reasoning: {} })).rejects.toMatchObject(failure);
    await bench.chat({
      reasoningEffort: "low",
      messages: [
        { role: "user", content: "Hello" },
        { role: "assistant", text: "", toolCalls: [{ id: "a", name: "f", arguments: {} }], reasoning: "hm" },
        { role: "tool", callId: "a", name: "f", content: "found" },
      ],
    });
    expect(last()).toMatchObject({ reasoning_effort: "low", messages: [{}, { reasoning_content: "hm" }, {}] });
  });
});
