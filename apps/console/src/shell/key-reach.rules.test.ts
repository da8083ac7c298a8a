import { expect, test } from "vitest";
import { limitsOf, mayOpen, type OpenTo, type Reach } from "./key-reach.rules.ts";

const whole = { models: null, monthly_limit: null };
const confined = { models: ["gantry/text", "gantry/image"], monthly_limit: null };
const limited = { models: null, monthly_limit: 0.02 };

test("a place is open to the keys that the service lets in there", () => {
  const places: OpenTo[] = ["any key", "unconfined keys", "unlimited keys"];
  const open = (key: Reach) => places.map((openTo) => mayOpen(key, openTo));
  expect(open(whole)).toEqual([true, true, true]);
  expect(open(limited)).toEqual([true, true, false]);
  expect(open(confined)).toEqual([true, false, false]);
});

test("what limits a key is said in a few words", () => {
  expect(limitsOf(whole)).toEqual([]);
  expect(limitsOf({ ...confined, monthly_limit: 5 })).toEqual([
    "only gantry/text, gantry/image",
    "at most $5.00 a month",
  ]);
  expect(limitsOf({ models: [], monthly_limit: null })).toEqual(["no models"]);
  expect(limitsOf(limited)).toEqual(["at most $0.02 a month"]);
});
