import { expect, test } from "vitest";
import { pricingOf, reservationOf } from "./reservation.rules.ts";

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
    pricingOf({ pricing, backend: { type } }).per_million_cache_write_tokens;
  expect(of("anthropic", { per_million_input_tokens: 3 })).toBe(3.75);
  expect(of("anthropic", { per_million_input_tokens: 3, per_million_cache_write_tokens: 0 })).toBe(0);
  expect(of("anthropic", { per_request: 1 })).toBe(undefined);
  expect(of("openai-chat", { per_million_input_tokens: 3 })).toBe(undefined);
});
