import { expect, test } from "vitest";
import type { TokenUsage } from "../../../engines/models/driver.ts";
import { priceOf } from "../../../kernel/money.ts";
import { pricingWith, reservationOf } from "../../billing/index.ts";
import {
  chargedUsage,
  chargeWhenCancelled,
  chargeWhenDone,
  isBelievable,
  isCountable,
  isWithin,
} from "./charge.rules.ts";
import { termsFor } from "./reserve.ts";

test.each([
  ["as many as there may be", { inputTokens: 10_000_000, outputTokens: 0 }, { believable: true, countable: true }],
  ["one more", { inputTokens: 0, outputTokens: 10_000_001 }, { believable: false, countable: true }],
  [
    "more that were cached",
    { inputTokens: 1, outputTokens: 1, cachedTokens: 1e8 },
    { believable: false, countable: true },
  ],
  ["no number of any size", { inputTokens: Infinity, outputTokens: 0 }, { believable: false, countable: false }],
  ["less than none", { inputTokens: -1, outputTokens: 0 }, { believable: true, countable: false }],
  ["half a token", { inputTokens: 1, outputTokens: 0.5 }, { believable: true, countable: false }],
])("tokens that an upstream reports: %s", (_, usage, { believable, countable }) => {
  expect([isBelievable(usage), isCountable(usage)]).toEqual([believable, countable]);
});

let seed = 7;
const random = (below: number) => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed % below;
};
const oneOf = <T>(values: readonly T[]) => values[random(values.length)] as T;
const prices = [
  "per_request",
  "per_second",
  "per_output",
  "per_million_input_tokens",
  "per_million_cached_tokens",
  "per_million_cache_write_tokens",
  "per_million_output_tokens",
];
const file = { type: "string", format: "binary", "x-media": "image" as const };
const object = (properties: object) => ({ type: "object" as const, properties: { ...properties } });

const anyPricing = () => {
  const priced = prices.filter(() => random(2) === 0);
  return Object.fromEntries(priced.map((name) => [name, oneOf([0, 0.000001, 0.07, 3, 1_000_000])]));
};
const anyType = () => oneOf(["anthropic", "openai-chat", "openai-images", "cog"]);
const names = ["a", "b", "c"];

/** One backend, or up to three with or without prices of their own. */
function anyBackends() {
  if (random(2) === 0) return { backend: { type: anyType() } };
  const listed = names.slice(0, 1 + random(3)).map((name) => {
    const own = random(2) === 0 ? {} : { pricing: anyPricing() };
    return { name, type: anyType(), weight: 1, priority: 0, ...own };
  });
  return { backends: listed };
}

function anyManifest() {
  return {
    pricing: anyPricing(),
    ...anyBackends(),
    timeout_seconds: oneOf([1, 300, 0.5]),
    input: object({ prompt: { type: "string" }, image: file, max_tokens: { type: "number" }, n: { type: "integer" } }),
    output: object(oneOf([{ output: { type: "string", isStream: true } }, { a: file }, { a: file, b: file, c: file }])),
  };
}

function anyUsage(): TokenUsage | undefined {
  const count = () => oneOf([0, 1, 65, 4096, 10_000_000]);
  if (random(4) === 0) return undefined;
  return {
    inputTokens: count(),
    outputTokens: count(),
    ...(random(2) === 0 && { cachedTokens: count() }),
    ...(random(2) === 0 && { cacheWriteTokens: count() }),
  };
}

test("a charge never exceeds its reservation, and is complete within the bounds", async () => {
  let [cut, whole] = [0, 0];
  for (let round = 0; round < 5000; round++) {
    const limit = oneOf([undefined, 1, 1.5, 0, 100, 1e9]);
    const input = { prompt: "x", ...(limit !== undefined && { max_tokens: limit }), n: random(5) };
    const manifest = anyManifest();
    const terms = await termsFor(manifest, input, async () => random(5000));
    const backend = oneOf((manifest.backends ?? [{ name: "only" }]).map(({ name }) => name));
    const work = { backend, seconds: oneOf([0, 0.25, 299, 90_000]), usage: anyUsage(), outputs: oneOf([0, 1, 2, 50]) };
    const [reserved, charged] = [reservationOf(terms), chargeWhenDone(terms, work)];
    const what = JSON.stringify({ terms, work });
    expect(charged, what).toBeLessThanOrEqual(reserved);
    expect(chargeWhenCancelled(terms, work), what).toBeLessThanOrEqual(charged);
    const { bounds } = terms;
    const { usage = { inputTokens: 0, outputTokens: 0 } } = work;
    expect(isWithin(chargedUsage(usage, bounds), bounds)).toBe(true);
    const isHonest = isWithin(usage, bounds) && work.seconds <= bounds.seconds && work.outputs <= bounds.outputs;
    if (!isHonest) cut++;
    else {
      whole++;
      const { cachedTokens = 0, cacheWriteTokens = 0 } = usage;
      const { seconds, outputs } = work;
      const used = { ...usage, requests: 1, seconds, outputs, cachedTokens, cacheWriteTokens };
      expect(charged, what).toBe(priceOf(pricingWith(terms, backend), used));
    }
  }
  expect(Math.min(cut, whole)).toBeGreaterThan(200);
});

test("a cancelled prediction is charged for tokens and time, not for the request or its outputs", () => {
  const terms = {
    pricing: { per_request: 1, per_output: 1, per_second: 0.5, per_million_output_tokens: 1_000_000 },
    bounds: { seconds: 10, outputs: 2, inputTokens: 10, outputTokens: 10 },
  };
  const work = { backend: "any", seconds: 2, outputs: 2, usage: { inputTokens: 1, outputTokens: 3 } };
  expect(chargeWhenCancelled(terms, work)).toBe(1_000_000 + 3_000_000);
});
