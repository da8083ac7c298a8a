import { expect, test } from "vitest";
import { answering } from "../../../src/engines/models/test-upstreams/text-upstream.ts";
import { eventsOf, sending, useDoorsPlatform } from "../../support/doors-platform.ts";

/** Upstreams whose answers must not break Gantry or its clients. */
const platform = useDoorsPlatform();
const question = [{ role: "user" as const, content: "Say hello." }];
const usage = { input: 9, output: 5 };
const chunk = (content: unknown) => ({
  choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }],
});
const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };

async function ask(way: string, body: object = {}, headers: Record<string, string> = {}) {
  const json = { model: `admin/${way}`, messages: question, ...body };
  return platform.gantry.call("POST", "/v1/chat/completions", { json, headers });
}

test.each(["native", "translated"] as const)(
  "%s: texts that cannot be stored are answered and charged",
  async (way) => {
    for (const [n, text] of ["a\0b", "lone \ud83d surrogate"].entries()) {
      for (const stream of [false, true]) {
        platform[way].play(answering({ text: [text], usage }));
        const headers = { "idempotency-key": `hostile-${way}-${n}-${stream}` };
        const first = await ask(way, { stream }, headers);
        expect(first.status, first.text).toBe(200);
        if (stream) expect(eventsOf(first.text).at(-1)).toBe("[DONE]");
        const repeat = await ask(way, { stream }, headers);
        expect(repeat.status, repeat.text).toBe(200);
        expect(platform[way].requests).toHaveLength(1);
      }
    }
  },
);

test.each([
  ["not JSON", () => sending("{nonsense")],
  ["a list", () => sending("[1,2]")],
  ["choices that are not a list", () => sending({ choices: "x" }, "[DONE]")],
  ["content that is not text", () => sending(chunk(5), chunk({ a: 1 }), end, "[DONE]")],
  ["nothing", () => sending()],
  ["an event of the protocol's end alone", () => sending("[DONE]")],
  [
    "deep nesting",
    () =>
      sending(chunk("a"), `{"choices":[{"delta":{"x":${"[".repeat(20_000)}${"]".repeat(20_000)}}}]}`, end, "[DONE]"),
  ],
  [
    "tool calls that are not a list",
    () => sending({ choices: [{ index: 0, delta: { tool_calls: { a: 1 } } }] }, end, "[DONE]"),
  ],
  [
    "tool calls of other types",
    () => sending({ choices: [{ index: 0, delta: { tool_calls: [5, null, "x"] } }] }, end, "[DONE]"),
  ],
] as const)("an upstream that streams %s is an answer or an error, and never a 500", async (_what, behaviour) => {
  platform.native.play(behaviour());
  const { status, text } = await ask("native", { stream: true });
  expect(status).not.toBe(500);
  if (status !== 200) return;
  const last = eventsOf(text).at(-1) ?? "";
  if (last !== "[DONE]")
    expect(JSON.parse(last)).toMatchObject({ error: { code: expect.not.stringContaining("internal") } });
});

test.each([
  "[]",
  "null",
  "5",
  "{}",
  '{"choices":5}',
  '{"choices":[]}',
  '{"error":{"message":"no","code":400}}',
  "<html>",
])("an upstream that answers %s instead of a completion is a 4xx or 502", async (body) => {
  platform.native.play(({ response }) => {
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
  const { status, body: answer } = await ask("native");
  expect([400, 502]).toContain(status);
  expect(answer.error.message).toEqual(expect.any(String));
});

test("an upstream that answers with more calls than can be used is a 502", async () => {
  const calls = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `${n}` }));
  const whole = { choices: [{ index: 0, message: { tool_calls: calls(300_000) }, finish_reason: "tool_calls" }] };
  platform.native.play(({ response }) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole));
  });
  expect((await ask("native")).status).toBe(502);
  const delta = { tool_calls: calls(60_000) };
  platform.native.play(sending({ choices: [{ index: 0, delta, finish_reason: "tool_calls" }] }, "[DONE]"));
  expect((await ask("native", { stream: true })).status).toBe(502);
});
