import { expect, test } from "vitest";
import { priceOf, takes } from "./card.rules.ts";

test("a card says what a run costs and what it takes", () => {
  expect(priceOf({ pricing: { per_run: 0.25 } })).toBe("$0.25 a run");
  expect(priceOf({ pricing: { per_run: 0 } })).toBe("Free");
  expect(takes({ input_schema: { properties: { topic: {}, depth: {} } } })).toBe("Takes topic, depth");
  expect(takes({ input_schema: { type: "object" } })).toBe("Takes any input");
});
