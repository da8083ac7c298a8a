import { expect, test } from "vitest";
import { furtherCosts, priceOf, takes } from "./card.rules.ts";

test("a card says what a run costs and what it takes", () => {
  expect(priceOf({ pricing: { per_run: 0.25 } })).toBe("$0.25 a run");
  expect(priceOf({ pricing: { per_run: 0 } })).toBe("Free");
  expect(takes({ input_schema: { properties: { topic: {}, depth: {} } } })).toBe("Takes topic, depth");
  expect(takes({ input_schema: { type: "object" } })).toBe("Takes any input");
  expect(
    furtherCosts({
      models: [
        { model: "ann/open", pricing: { per_request: 0.5, per_second: 0.1 } },
        { model: "ann/free", pricing: {} },
      ],
      agents: [{ agent: "ben/helper", pricing: { per_run: 2 } }],
    }),
  ).toEqual(["ann/open: $0.50 a run, $0.10 a second", "ann/free: Free", "ben/helper: $2.00 a run"]);
});
