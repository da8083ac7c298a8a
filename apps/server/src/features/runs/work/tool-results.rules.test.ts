import { expect, test } from "vitest";
import type { StoredCall } from "../run.ts";
import { failingCall, plainResult, repeatNote, truncateResult } from "./tool-results.rules.ts";

const ask = { method: "GET", url: "http://x/" };

/** Repeated calls of a run with their results for the model. */
function polled(
  results: readonly string[],
  args: (n: number) => Record<string, unknown> = () => ask,
  calls: StoredCall[] = [],
) {
  const notes: string[] = [];
  for (const [n, result] of results.entries()) {
    const call: StoredCall = {
      step: n + 1,
      position: 0,
      callId: `call_${n}`,
      tool: "http_request",
      arguments: args(n),
      kind: "read",
      status: "started",
      childId: null,
      result: null,
      isError: null,
      answer: null,
      answerReason: null,
      answerHash: null,
      shownTenant: null,
    };
    calls.push(call);
    const note = repeatNote(calls, call, result);
    notes.push(note);
    Object.assign(call, { status: "ended", result: truncateResult(result, note), isError: false });
  }
  return notes.map((note) => (note === "" ? 0 : Number(/\d+/.exec(note)?.[0])));
}

test("the third equal result of a call gets a note, in any order of arguments", () => {
  expect(polled(["a", "a", "a", "a", "a"])).toEqual([0, 0, 3, 4, 5]);
  const turned = (n: number) => (n % 2 === 0 ? ask : { url: ask.url, method: ask.method });
  expect(polled(["a", "a", "a"], turned)).toEqual([0, 0, 3]);
});

test("a new result resets the count", () => {
  expect(polled(["status 1", "status 2", "status 3", "status 4"])).toEqual([0, 0, 0, 0]);
  expect(polled(["a", "a", "a", "b", "a", "a", "a"])).toEqual([0, 0, 3, 0, 0, 0, 3]);
});

test("truncated results count as equal if their beginnings are equal", () => {
  const [full, long] = ["x".repeat(65_536), "x".repeat(100_000)];
  expect(polled([full, full, full, full, full])).toEqual([0, 0, 3, 4, 5]);
  expect(polled([long, long, long, long, `${long}y`, "x", long])).toEqual([0, 0, 3, 4, 0, 0, 0]);
});

test("another call with the same result does not count", () => {
  expect(polled(["a", "a", "a", "a"], (n) => ({ ...ask, url: `http://x/${n}` }))).toEqual([0, 0, 0, 0]);
});

test("the arguments of a call are serialized once, and not for calls of other tools", () => {
  const calls: StoredCall[] = [];
  let reads = 0;
  const counted = () => ({
    get url() {
      reads++;
      return ask.url;
    },
  });
  polled(Array(40).fill("a"), counted, calls);
  expect(failingCall(calls)).toBeUndefined();
  expect(reads).toBe(40);
  for (const call of calls) call.tool = "web_fetch";
  const fresh = calls.map((call) => ({ ...call, arguments: counted() }));
  polled(["a"], () => ask, fresh);
  expect(reads).toBe(40);
});

test("a call is compared with recent calls only", () => {
  expect(polled(Array(300).fill("a")).slice(253)).toEqual([254, 255, ...Array(45).fill(256)]);
});

test("a result that looks like a note stays", () => {
  const odd = "a\n\n[This very call has 3 parts.]";
  expect(polled([odd, odd, odd, "a", "a"])).toEqual([0, 0, 3, 0, 0]);
});

test("the note can be removed", () => {
  const calls: StoredCall[] = [];
  polled(["a", "a", "a"], () => ask, calls);
  expect(calls[2]?.result).toContain("3 times");
  expect(calls.map(({ result }) => plainResult(result ?? ""))).toEqual(["a", "a", "a"]);
  const odd = "a\n\n[This very call has 3 parts.]";
  expect([plainResult(odd), plainResult("")]).toEqual([odd, ""]);
});

const after = "\n\n[a note]";

test("a result that fits with its note is not truncated", () => {
  for (const text of ["", "short", "x".repeat(65_536), "ü".repeat(32_768), "😀".repeat(16_384)]) {
    expect(truncateResult(text) === text).toBe(true);
  }
  const whole = "x".repeat(65_536 - after.length);
  expect(truncateResult(whole, after) === whole + after).toBe(true);
});

test.each(["x", "ü", "€", "😀"])("a longer result is truncated between characters: %s", (character) => {
  const size = Buffer.byteLength(character);
  for (const [bytes, told] of [
    [65_540, ""],
    [65_536, after],
    [5_000_000, after],
  ] as const) {
    // An odd beginning puts the limit inside a character.
    for (let odd = 0; odd < size; odd++) {
      const text = "-".repeat(odd) + character.repeat(Math.ceil(bytes / size));
      const result = truncateResult(text, told);
      expect(Buffer.byteLength(result)).toBeLessThanOrEqual(65_536);
      expect(Buffer.byteLength(result)).toBeGreaterThan(65_520);
      const [, kept = "", more] = /^(.*)\n\[… cut: (\d+) bytes more\](?:\n\n\[a note\])?$/.exec(result) ?? [];
      expect(text.startsWith(kept)).toBe(true);
      expect(Buffer.byteLength(kept) + Number(more)).toBe(Buffer.byteLength(text));
      expect(result.endsWith(told)).toBe(true);
    }
  }
});
