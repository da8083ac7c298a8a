import { expect, test } from "vitest";
import type { Step, StoredCall } from "../run.ts";
import { noEarlierTurns } from "../threads/earlier-turns.rules.ts";
import { shorten } from "./compress.ts";
import type { Conversation } from "./conversation.rules.ts";

const countTokens = async (text: string) => Math.ceil(text.length / 4);
const window = 1000;

const step = (n: number, text = ""): Step => ({
  n,
  kind: "work",
  message: { text, toolCalls: [{ id: `call_${n}`, name: "look", arguments: {} }] },
  prompt: null,
});
const summary = (n: number, covers: number): Step => ({
  n,
  kind: "summary",
  message: { text: "So far.", toolCalls: [], covers },
  prompt: null,
});
const result = (n: number, length: number): StoredCall => ({
  step: n,
  position: 0,
  callId: `call_${n}`,
  tool: "look",
  arguments: {},
  kind: "read",
  status: "ended",
  childId: null,
  result: "r".repeat(length),
  isError: false,
  answer: null,
  answerReason: null,
  answerHash: null,
  shownTenant: null,
});
const conversation = (steps: Step[], calls: StoredCall[], more: Partial<Conversation> = {}): Conversation => ({
  system: "System.",
  goal: "Goal.",
  input: {},
  images: [],
  earlier: noEarlierTurns,
  steps,
  calls,
  cutBefore: 0,
  window,
  ...more,
});

test.each([
  ["the only step", [step(1)], [result(1, 8000)], 2],
  ["the last of two", [step(1), step(2)], [result(1, 10), result(2, 8000)], 3],
  ["the last of three", [step(1), step(2), step(3)], [result(1, 10), result(2, 10), result(3, 8000)], 4],
  ["the only step after a summary", [step(1), summary(2, 1), step(3)], [result(1, 10), result(3, 8000)], 4],
])("%s is shortened, not summarized, if that is enough", async (_, steps, calls, cutBefore) => {
  const shortening = await shorten(conversation(steps, calls), "", countTokens);
  expect(shortening).toMatchObject({ kind: "results", cutBefore });
  expect("after" in shortening && shortening.after).toBeLessThan(window * 0.8);
});

test("older steps are summarized if shortening is not enough", async () => {
  const steps = [step(1, "t".repeat(2000)), step(2), step(3)];
  const calls = [result(1, 10), result(2, 10), result(3, 3000)];
  expect(await shorten(conversation(steps, calls), "", countTokens)).toMatchObject({
    kind: "summary",
    range: { covers: 1 },
  });
});

test("the last steps are summarized only if they exceed the window", async () => {
  const huge = conversation([step(1, "t".repeat(8000))], [result(1, 10)]);
  expect(await shorten(huge, "", countTokens)).toMatchObject({ kind: "summary", range: { covers: 1 } });
  expect(await shorten({ ...huge, cutBefore: 2 }, "", countTokens)).toMatchObject({
    kind: "summary",
    range: { covers: 1 },
  });
  const full = conversation([step(1, "t".repeat(3600))], [result(1, 10)], { cutBefore: 2 });
  expect(await shorten(full, "", countTokens)).toMatchObject({ kind: "none" });
});

test("reasoning sent with a call is counted, and calls in their shortened form", async () => {
  const thought = { type: "thinking", thinking: "t".repeat(4000), signature: "s".repeat(400) };
  const heavy = step(1);
  const opaque = {
    protocol: "anthropic",
    content: [thought, { type: "tool_use", id: "call_1", name: "look", input: {} }],
  };
  const thinking = { ...heavy, message: { ...heavy.message, opaque } };
  const calls = [1, 2, 3].map((n) => result(n, 10));
  const shortening = await shorten(conversation([thinking, step(2), step(3)], calls), "", countTokens);
  expect(shortening).toMatchObject({ kind: "summary", range: { covers: 1 } });
  expect("range" in shortening && shortening.range.before_tokens).toBeGreaterThan(1000);

  const input = { code: "c".repeat(8000) };
  const toolCalls = [{ id: "call_1", name: "look", arguments: input }];
  const signed = { protocol: "anthropic", content: [{ type: "tool_use", id: "call_1", name: "look", input }] };
  const long = { ...heavy, message: { text: "", toolCalls, opaque: signed } };
  const cut = await shorten(conversation([long, step(2), step(3)], calls), "", countTokens);
  expect(cut).toMatchObject({ kind: "results", cutBefore: 2 });
  expect("after" in cut && cut.after).toBeLessThan(window * 0.8);
});

test("a goal larger than the window is sent unchanged", async () => {
  const shortening = await shorten(conversation([], [], { goal: "g".repeat(8000) }), "", countTokens);
  expect(shortening).toMatchObject({ kind: "none" });
});
