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

describe("what is cut", () => {
  test("is the text where nothing is called, and else the last call alone", () => {
    expect(isCutText(said("half", cut))).toBe(true);
    expect(isCutText(said("whole"))).toBe(false);
    const { message } = said("I call", { ...cut, toolCalls: [call("a"), call("b")] });
    expect(isCutText({ message })).toBe(false);
    expect([0, 1].map((position) => isCutCall(message, position))).toEqual([false, true]);
    expect(isCutCall(said("I call", { toolCalls: [call("a")] }).message, 0)).toBe(false);
  });

  test("does not count as a call that failed", () => {
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

describe("the pieces of a text", () => {
  test("are joined as they came, over a summary in between", () => {
    expect(joinedText([said("one t", cut), said("wo th", cut), summary(), said("ree")])).toBe("one two three");
    expect(joinedText([said("one"), said("two")])).toBe("two");
    expect(joinedText([])).toBe("");
  });

  test("are those right before it: none from before a call, a plan, or the form", () => {
    const called = said("then", { toolCalls: [call("a")] });
    expect(joinedText([said("half", cut), called, said("end")])).toBe("end");
    expect(joinedText([said("half a plan", cut, "plan"), said("end")])).toBe("end");
    expect(joinedText([said("half", cut), said("whole"), said("FORM", {}, "format")])).toBe("FORM");
  });

  test("do not say twice what the model was told it had ended with", () => {
    const before = `${"x".repeat(50)}${"The end of what was said, which is long enough to be known again. ".repeat(2)}`;
    expect(joinedText([said(before, cut), said(`${before.slice(-80)}And more.`)])).toBe(`${before}And more.`);
    const row = "2026-11-15;12;34;a row of a table that looks like the one before it\n";
    const table = row.repeat(4);
    expect(joinedText([said(table, cut), said(table)])).toBe(row.repeat(8));
    // Few words may well be meant.
    expect(joinedText([said("ha ", cut), said("ha ha")])).toBe("ha ha ha");
  });
});

describe("one cut after the other", () => {
  const times = (count: number, more: Partial<Step["message"]>) =>
    Array.from({ length: count }, () => said("half", { ...cut, ...more }));

  test("ends the run with the limit: sooner in calls, which only repeat themselves", () => {
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

  test("begins anew with anything whole", () => {
    const toolCalls = [call("a")];
    expect(
      cutTooOften([...times(2, { toolCalls }), said("", { toolCalls }), ...times(2, { toolCalls })]),
    ).toBeUndefined();
    expect(cutTooOften([...times(4, {}), said("whole")])).toBeUndefined();
    // Of several calls all but the last were made.
    expect(cutTooOften(times(9, { toolCalls: [call("a"), call("b")] }))).toBeUndefined();
    expect(cutTooOften([])).toBeUndefined();
  });

  test("is told without a number where the upstream counts none", () => {
    expect(cutTooOften(times(5, { cutAtTokens: 0 }))?.message).toContain("at the limit of its length");
  });
});
