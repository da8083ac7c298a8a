import { expect, test } from "vitest";
import { dollarsOfMicros, microsOfDollars, priceOf } from "./money.ts";

const nothing = {
  requests: 0,
  seconds: 0,
  outputs: 0,
  inputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
};

test.each([
  [0.03, 30_000],
  [100, 100_000_000],
  [0.1 + 0.2, 300_000],
  [0.0000015, 2],
  [0.0000014999, 1],
  [-0.5, -500_000],
  [-0.0000015, -1],
  [1e-7, 0],
  [5e-7, 1],
  [123_456.789012, 123_456_789_012],
])("%d dollars are %d micros", (dollars, micros) => {
  expect(microsOfDollars(dollars)).toBe(micros);
});

test("a whole number of micros comes back unchanged", () => {
  for (let i = 0; i < 20_000; i++) {
    const micros = Math.floor(Math.random() * 1e12) - 5e11;
    expect(microsOfDollars(dollarsOfMicros(micros))).toBe(micros);
  }
});

test("tokens are priced exactly and rounded once", () => {
  const pricing = { per_million_input_tokens: 0.1, per_million_output_tokens: 0.4 };
  // 0.1 + 0.4 micros make half a micro, which rounds up; each alone would round to nothing.
  expect(priceOf(pricing, { ...nothing, inputTokens: 1, outputTokens: 1 })).toBe(1);
  expect(priceOf(pricing, { ...nothing, inputTokens: 4 })).toBe(0);
  expect(priceOf(pricing, { ...nothing, inputTokens: 5 })).toBe(1);
});

test("cached tokens have their own price where one is given, the input price otherwise", () => {
  const used = { ...nothing, inputTokens: 1_000_000, cachedTokens: 400_000 };
  expect(priceOf({ per_million_input_tokens: 3, per_million_cached_tokens: 0.3 }, used)).toBe(1_920_000);
  expect(priceOf({ per_million_input_tokens: 3 }, used)).toBe(3_000_000);
  expect(priceOf({ per_million_input_tokens: 3, per_million_cached_tokens: 0 }, used)).toBe(1_800_000);
  const writing = { ...used, cacheWriteTokens: 100_000 };
  expect(priceOf({ per_million_input_tokens: 3 }, writing)).toBe(3_000_000);
  expect(priceOf({ per_million_input_tokens: 3, per_million_cache_write_tokens: 3.75 }, writing)).toBe(3_075_000);
});

test("requests, seconds and outputs add up", () => {
  const pricing = { per_request: 0.03, per_second: 0.001, per_output: 0.5 };
  expect(priceOf(pricing, { ...nothing, requests: 1, seconds: 2.5, outputs: 2 })).toBe(30_000 + 2_500 + 1_000_000);
});

test("cached tokens are at most the input", () => {
  const pricing = { per_million_input_tokens: 3, per_million_cached_tokens: 1 };
  expect(priceOf(pricing, { ...nothing, inputTokens: 1_000_000, cachedTokens: 5_000_000 })).toBe(1_000_000);
});

test("an amount that is too large to be exact is refused", () => {
  expect(() => microsOfDollars(1e10)).toThrow("too large");
});
