import { expect, test } from "vitest";
import { interpolatedPercentile, stepOf } from "./latency.rules.ts";

const countsOf = (latencies: readonly number[]): Map<number, number> => {
  const counts = new Map<number, number>();
  for (const one of latencies) counts.set(stepOf(one) + 1, (counts.get(stepOf(one) + 1) ?? 0) + 1);
  return counts;
};

test.each([0.5, 0.95])("the percentile %d is within a step of the exact one", (share) => {
  const latencies = Array.from({ length: 1_000 }, (_, n) => 20 + n * 3.7);
  const exact = latencies[Math.ceil(share * latencies.length) - 1] ?? 0;
  const found = interpolatedPercentile(countsOf(latencies), share) ?? 0;
  expect(Math.abs(found - exact) / exact).toBeLessThan(0.12);
});

test("a single value is found within its step; without values it is unknown", () => {
  const found = interpolatedPercentile(countsOf([1_000]), 0.5) ?? 0;
  expect(Math.abs(found - 1_000)).toBeLessThan(250);
  expect(interpolatedPercentile(countsOf([2]), 0.95)).toBeLessThanOrEqual(5);
  expect(interpolatedPercentile(new Map(), 0.5)).toBeNull();
  expect(interpolatedPercentile(new Map([[4, 0]]), 0.5)).toBeNull();
});
