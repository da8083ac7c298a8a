import { expect, test } from "vitest";
import { budgetLines } from "./budget.rules.ts";

const none = { spent: null, monthly_limit: null, daily_limit: null, tokens_per_minute: null };

test("a budget shows the spending and every limit", () => {
  const all = { spent: 3, monthly_limit: 20, daily_limit: 2, tokens_per_minute: 1000 };
  expect(budgetLines(all)).toEqual([
    "$3.00 of $20.00 this month",
    "At most $2.00 a day",
    "At most 1,000 tokens a minute",
  ]);
  expect(budgetLines({ ...none, spent: 3 })).toEqual(["$3.00 this month"]);
});

test("limits are shown without the spending of others", () => {
  expect(budgetLines({ ...none, monthly_limit: 20 })).toEqual(["At most $20.00 a month"]);
  expect(budgetLines(none)).toEqual([]);
});
