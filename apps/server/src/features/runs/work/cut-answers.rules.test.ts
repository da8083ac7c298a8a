import { describe, expect, test } from "vitest";
import type { Step, StoredCall } from "../run.ts";
import { cutTooOften, isCutCall, isCutText, joinedText, wholeCalls } from "./cut-answers.rules.ts";

let n = 0;
const call = (id: string) => ({ id, name: "look", arguments: {} });
const said = (text: string, more: Partial<Step["message"]> = {}, kind: Step["kind"] = "work"): Step => ({
  n: ++n,
  kind,
  message: { text, toolCalls: [], ...more },
  prompt: null,
});
const cut = { cutAtTokens: 4096 };
const summary = () => said("So far.", { covers: 1 }, "summary");

describe("an answer that was cut off", () => {
  test("has an incomplete text or an incomplete last call", () => {
    expect(isCutText(said("half", cut))).toBe(true);
    expect(isCutText(said("whole"))).toBe(false);
    const { message } = said("I call", { ...cut, toolCalls: [call("a"), call("b")] });
    expect(isCutText({ message })).toBe(false);
    expect([0, 1].map((position) => isCutCall(message, position))).toEqual([false, true]);
    expect(isCutCall(said("I call", { toolCalls: [call("a")] }).message, 0)).toBe(false);
  });

  test("does not count as a failed call", () => {
    const step = said("", { ...cut, toolCalls: [call("a"), call("b")] });
    const whole = said("", { toolCalls: [call("c")] });
    const calls = [
      { step: step.n, position: 0 },
      { step: step.n, position: 1 },
      { step: whole.n, position: 0 },
    ] as StoredCall[];
    expect(wholeCalls([step, whole], calls)).toEqual([calls[0], calls[2]]);
    expect(wholeCalls([whole], calls)).toBe(calls);
  });
});

describe("the parts of a text", () => {
  test("are joined across a summary", () => {
    expect(joinedText([said("one t", cut), said("wo th", cut), summary(), said("ree")])).toBe("one two three");
    expect(joinedText([said("one"), said("two")])).toBe("two");
    expect(joinedText([])).toBe("");
  });

  test("are not joined across a call, a plan or a change of kind", () => {
    const called = said("then", { toolCalls: [call("a")] });
    expect(joinedText([said("half", cut), called, said("end")])).toBe("end");
    expect(joinedText([said("half a plan", cut, "plan"), said("end")])).toBe("end");
    expect(joinedText([said("half", cut), said("whole"), said("FORM", {}, "format")])).toBe("FORM");
  });

  test("do not repeat the quoted end", () => {
    const before = `${"x".repeat(50)}${"The end of what was said, which is long enough to be known again. ".repeat(2)}`;
    expect(joinedText([said(before, cut), said(`${before.slice(-80)}And more.`)])).toBe(`${before}And more.`);
    const row = "2026-11-15;12;34;a row of a table that looks like the one before it\n";
    const table = row.repeat(4);
    expect(joinedText([said(table, cut), said(table)])).toBe(row.repeat(8));
    // A short repetition may be intended.
    expect(joinedText([said("ha ", cut), said("ha ha")])).toBe("ha ha ha");
  });
});

describe("consecutive cuts", () => {
  const times = (count: number, more: Partial<Step["message"]>) =>
    Array.from({ length: count }, () => said("half", { ...cut, ...more }));

  test("end the run, sooner in calls", () => {
    expect(cutTooOften(times(4, {}))).toBeUndefined();
    expect(cutTooOften([...times(4, {}), summary(), said("half", cut)])).toMatchObject({
      type: "limit_exceeded",
      message: "The model's answer was cut off at the limit of 4096 tokens, 5 times in a row",
    });
    const toolCalls = [call("a")];
    expect(cutTooOften(times(2, { toolCalls }))).toBeUndefined();
    expect(cutTooOften(times(3, { toolCalls }))).toMatchObject({
      message: expect.stringContaining("3 times in a row"),
    });
  });

  test("are counted from the last complete part", () => {
    const toolCalls = [call("a")];
    expect(
      cutTooOften([...times(2, { toolCalls }), said("", { toolCalls }), ...times(2, { toolCalls })]),
    ).toBeUndefined();
    expect(cutTooOften([...times(4, {}), said("whole")])).toBeUndefined();
    // All calls but the last were made.
    expect(cutTooOften(times(9, { toolCalls: [call("a"), call("b")] }))).toBeUndefined();
    expect(cutTooOften([])).toBeUndefined();
  });

  test("are reported without a number if the upstream counts no tokens", () => {
    expect(cutTooOften(times(5, { cutAtTokens: 0 }))?.message).toContain("at the length limit");
  });
});
