import { expect, test } from "vitest";
import { type KeyLimits, limitsOf, mayOpen, type OpenTo } from "./key-access.rules.ts";

const numbers = { monthly_limit: null, daily_limit: null, tokens_per_minute: null };
const unlimited = { models: null, ...numbers };
const confined = { models: ["gantry/text", "gantry/image"], ...numbers };
const limited = { ...unlimited, monthly_limit: 0.02 };

test("pages open only to keys that the API accepts", () => {
  const levels: OpenTo[] = ["any key", "unconfined keys", "unlimited keys"];
  const open = (key: KeyLimits) => levels.map((openTo) => mayOpen(key, openTo));
  expect(open(unlimited)).toEqual([true, true, true]);
  expect(open(limited)).toEqual([true, true, false]);
  expect(open({ ...unlimited, daily_limit: 1 })).toEqual([true, true, false]);
  expect(open({ ...unlimited, tokens_per_minute: 1 })).toEqual([true, true, false]);
  expect(open(confined)).toEqual([true, false, false]);
});

test("limits of a key are listed", () => {
  expect(limitsOf(unlimited)).toEqual([]);
  expect(limitsOf({ ...confined, monthly_limit: 5 })).toEqual(["Only gantry/text, gantry/image", "$5.00 per month"]);
  expect(limitsOf({ models: [], ...numbers })).toEqual(["No models"]);
  expect(limitsOf({ ...limited, daily_limit: 1, tokens_per_minute: 20_000 })).toEqual([
    "$0.02 per month",
    "$1.00 per day",
    "20,000 tokens per minute",
  ]);
});
