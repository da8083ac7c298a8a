import { expect, test } from "vitest";
import { isBelievable, isCountable } from "./charge.rules.ts";

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
