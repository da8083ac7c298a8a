import { expect, test } from "vitest";
import { type KeyLimits, limitsOf, mayOpen, type OpenTo } from "./key-access.rules.ts";

const unlimited = { models: null, monthly_limit: null };
const confined = { models: ["gantry/text", "gantry/image"], monthly_limit: null };
const limited = { models: null, monthly_limit: 0.02 };

test("pages open only to keys that the API accepts", () => {
  const levels: OpenTo[] = ["any key", "unconfined keys", "unlimited keys"];
  const open = (key: KeyLimits) => levels.map((openTo) => mayOpen(key, openTo));
  expect(open(unlimited)).toEqual([true, true, true]);
  expect(open(limited)).toEqual([true, true, false]);
  expect(open(confined)).toEqual([true, false, false]);
});

test("limits of a key are listed", () => {
  expect(limitsOf(unlimited)).toEqual([]);
  expect(limitsOf({ ...confined, monthly_limit: 5 })).toEqual(["Only gantry/text, gantry/image", "$5.00 per month"]);
  expect(limitsOf({ models: [], monthly_limit: null })).toEqual(["No models"]);
  expect(limitsOf(limited)).toEqual(["$0.02 per month"]);
});
