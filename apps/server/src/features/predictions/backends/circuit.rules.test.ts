import { expect, test } from "vitest";
import { latencySteps, percentileOf, stepOf } from "../../../kernel/latency.rules.ts";
import { longestPauseMs, mostFailures, opensAfter, stateOf } from "./circuit.rules.ts";

const closed = { failures: 0, openUntil: undefined, openedAt: 0, probedAt: undefined };

test("a circuit is open until its time, and then due for one node", () => {
  expect(stateOf(closed, 1000)).toBe("closed");
  const open = { ...closed, openUntil: 5000 };
  expect([stateOf(open, 4999), stateOf(open, 5000)]).toEqual(["open", "due"]);
  const probed = { ...open, probedAt: 6000 };
  // A claim whose end was never announced is doubted.
  expect([stateOf(probed, 6001), stateOf(probed, 10_999), stateOf(probed, 11_000)]).toEqual(["open", "open", "due"]);
});

test("opens after failures in a row, or at once for the time that a backend asks for", () => {
  expect(opensAfter(mostFailures - 1, undefined).opens).toBe(false);
  expect(opensAfter(mostFailures, undefined)).toEqual({ opens: true, askedMs: null });
  expect(opensAfter(1, 999).opens).toBe(false);
  expect(opensAfter(1, 2500)).toEqual({ opens: true, askedMs: 2500 });
  expect(opensAfter(1, 86_400_000)).toEqual({ opens: true, askedMs: longestPauseMs });
});

test("percentiles of latencies are accurate to 12 %", () => {
  expect(percentileOf([], 0.5)).toBeNull();
  for (const milliseconds of [6, 37, 420, 9_000, 250_000]) {
    const counts = new Array<number>(latencySteps).fill(0);
    counts[stepOf(milliseconds)] = 9;
    const found = percentileOf(counts, 0.5) ?? 0;
    expect(Math.abs(found / milliseconds - 1)).toBeLessThan(0.125);
    counts[stepOf(3_600_000)] = 1;
    expect(percentileOf(counts, 0.95) ?? 0).toBeGreaterThan(3_000_000);
  }
  expect([stepOf(0), stepOf(Number.MAX_SAFE_INTEGER)]).toEqual([0, latencySteps - 1]);
});
