import { expect, test } from "vitest";
import { activityText, furtherCosts, priceOf } from "./card.rules.ts";

test("a card shows what a run costs", () => {
  expect(priceOf({ pricing: { per_run: 0.25 } })).toBe("$0.25 per run");
  expect(priceOf({ pricing: { per_run: 0 } })).toBe("Free");
  expect(
    furtherCosts({
      models: [
        { model: "ann/open", pricing: { per_request: 0.5, per_second: 0.1 } },
        { model: "ann/free", pricing: {} },
      ],
      agents: [{ agent: "ben/helper", pricing: { per_run: 2 } }],
    }),
  ).toEqual(["ann/open: $0.50 per run, $0.10 per second", "ann/free: Free", "ben/helper: $2.00 per run"]);
});

test.each([
  [{ runs: 0, succeeded: 0, failed: 0 }, "No recent runs"],
  [{ runs: 1, succeeded: 0, failed: 0 }, "1 run"],
  [{ runs: 40, succeeded: 38, failed: 1 }, "40 runs, 97% succeeded"],
])("activity of %j", (counts, text) => {
  expect(activityText({ activity: { ...counts, last_run_at: null } })).toBe(text);
});
