import type { ModelPricing } from "@gantry/wire";
import { expect, test } from "vitest";
import { highestPricing, pricesOf, pricingWith, reservationOf, termsInBatch } from "./reservation.rules.ts";

const bounds = { seconds: 10, outputs: 3, inputTokens: 1_000_000, outputTokens: 500_000 };

test("reserves everything that the bounds allow, input at its highest price", () => {
  const rest = { per_request: 1, per_second: 0.1, per_output: 2, per_million_output_tokens: 4 };
  expect(reservationOf({ pricing: rest, bounds })).toBe(10_000_000);
  const input = { per_million_input_tokens: 3, per_million_cached_tokens: 0.3 };
  expect(reservationOf({ pricing: { ...rest, ...input }, bounds })).toBe(13_000_000);
  const writes = { ...input, per_million_cache_write_tokens: 3.75 };
  expect(reservationOf({ pricing: { ...rest, ...writes }, bounds })).toBe(13_750_000);
  expect(reservationOf({ pricing: { per_million_cached_tokens: 5, per_million_cache_write_tokens: 4 }, bounds })).toBe(
    5_000_000,
  );
});

test("cache writes with anthropic cost 25 % more than input by default", () => {
  const of = (type: string, pricing: object) =>
    pricesOf({ pricing, backend: { type } }).pricing.per_million_cache_write_tokens;
  expect(of("anthropic", { per_million_input_tokens: 3 })).toBe(3.75);
  expect(of("anthropic", { per_million_input_tokens: 3, per_million_cache_write_tokens: 0 })).toBe(0);
  expect(of("anthropic", { per_request: 1 })).toBe(undefined);
  expect(of("openai-chat", { per_million_input_tokens: 3 })).toBe(undefined);
});

const listed = (name: string, type: string, pricing?: object) => ({
  name,
  type,
  weight: 1,
  priority: 0,
  ...(pricing && { pricing }),
});

test("a model with several backends reserves at the dearest and has the prices of each", () => {
  const manifest = {
    pricing: { per_million_input_tokens: 2 },
    backends: [
      listed("a", "anthropic"),
      listed("o", "openai-chat"),
      listed("own", "openai-chat", { per_request: 3, per_million_input_tokens: 1 }),
    ],
  };
  const prices = pricesOf(manifest);
  expect(pricingWith(prices, "a")).toEqual({ per_million_input_tokens: 2, per_million_cache_write_tokens: 2.5 });
  expect(pricingWith(prices, "o")).toEqual({ per_million_input_tokens: 2 });
  expect(pricingWith(prices, "own")).toEqual({ per_request: 3, per_million_input_tokens: 1 });
  // Added after acceptance. No name of a property that every object has is taken for a backend.
  for (const name of ["later", "constructor", ""]) expect(pricingWith(prices, name)).toBe(manifest.pricing);
  expect(reservationOf({ ...prices, bounds })).toBe(4_000_000);
  expect(highestPricing(manifest)).toEqual({ per_request: 3, per_million_input_tokens: 2 });
});

test("a batch multiplies all prices exactly, and the whole is rounded once", () => {
  const pricing = { per_request: 0.000003, per_million_output_tokens: 0.15 };
  const terms = { pricing, backends: { a: { per_second: 0.07 } }, bounds };
  const half = termsInBatch(terms, 0.5);
  expect(half.pricing).toEqual({ per_request: 0.0000015, per_million_output_tokens: 0.075 });
  expect(half.backends).toEqual({ a: { per_second: 0.035 } });
  // 1.5 + 37,500 millionths of a dollar.
  expect(reservationOf({ pricing: half.pricing, bounds })).toBe(37_502);
  const priced: ModelPricing = { ...pricing, batch_factor: 0.7 };
  expect(termsInBatch({ pricing: priced, bounds }, 0.7).pricing).toEqual({
    per_request: 0.0000021,
    per_million_output_tokens: 0.105,
  });
  expect(reservationOf(termsInBatch(terms, 0))).toBe(0);
  expect(termsInBatch(terms)).toBe(terms);
});

test("callers who do not see backends see the factor", () => {
  const backends = [listed("a", "openai-chat", { per_request: 2 })];
  expect(highestPricing({ pricing: { per_request: 1, batch_factor: 0.5 }, backends })).toEqual({
    per_request: 2,
    batch_factor: 0.5,
  });
});
