import { expect, test } from "vitest";
import { callsText, pauseText, stateOf } from "./backend-state.rules.ts";

test("a paused backend says why", () => {
  const open = { circuit: "open", failures: 5 } as const;
  expect(pauseText({ ...open, reason: "503" })).toBe("Answered 503, 5 failures in a row");
  expect(pauseText({ ...open, reason: "unreachable", failures: 1 })).toBe("Not reachable");
  expect(pauseText({ ...open, reason: "something new" })).toContain("something new");
  expect(pauseText({ ...open, reason: null })).toContain("Failed");
  expect(pauseText({ circuit: "closed", reason: null, failures: 0 })).toBeUndefined();
  expect(stateOf({ ...open, reason: null })).toEqual({ label: "Paused", tone: "bad" });
});

test("calls and failures are counted in words", () => {
  const figures = { calls: 1, failures: 0, p50_ms: 1, p95_ms: 1 };
  expect([null, figures, { ...figures, calls: 1200, failures: 3 }].map(callsText)).toEqual([
    "No calls",
    "1 call",
    "1,200 calls, 3 failed",
  ]);
});
