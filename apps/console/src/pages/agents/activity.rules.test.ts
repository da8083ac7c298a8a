import { expect, test } from "vitest";
import { percent, runsText, successRate } from "./activity.rules.ts";

test.each([
  [0, "0 runs"],
  [1, "1 run"],
  [999, "999 runs"],
  [1000, "1,000+ runs"],
])("%i runs", (runs, text) => {
  expect(runsText({ runs })).toBe(text);
});

test("the rate counts runs that ended", () => {
  expect(successRate({ succeeded: 0, failed: 0 })).toBeUndefined();
  expect(percent(successRate({ succeeded: 999, failed: 1 }) ?? 0)).toBe("99%");
  expect(percent(successRate({ succeeded: 3, failed: 0 }) ?? 0)).toBe("100%");
});
