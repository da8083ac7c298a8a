import { expect, test } from "vitest";
import { furtherCosts, inputSummary, priceOf } from "./card.rules.ts";

test("a card shows the price and the inputs", () => {
  expect(priceOf({ pricing: { per_run: 0.25 } })).toBe("$0.25 per run");
  expect(priceOf({ pricing: { per_run: 0 } })).toBe("Free");
  expect(inputSummary({ input_schema: { properties: { topic: {}, depth: {} } } })).toBe("Input: topic, depth");
  expect(inputSummary({ input_schema: { type: "object" } })).toBe("Accepts any input");
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
