import { expect, test } from "vitest";
import { limitsOf, noLimits } from "./run-limits.rules.ts";

test("empty limits are left out", () => {
  expect(limitsOf(noLimits)).toEqual({});
  expect(limitsOf({ maxCost: "0.5", minutes: "2", steps: " 10 " })).toEqual({
    max_cost: 0.5,
    timeout_seconds: 120,
    max_steps: 10,
  });
  expect(limitsOf({ ...noLimits, steps: "many" })).toBeUndefined();
});
