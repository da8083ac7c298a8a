import { expect, test } from "vitest";
import { createReadBudget } from "./read-budget.rules.ts";

const megabyte = 1024 * 1024;

test("a file is read at most twice, with something to spare for small ones", () => {
  const budget = createReadBudget(10 * megabyte);
  for (let n = 0; n < 36; n++) budget.take(megabyte);
  expect(() => budget.take(1)).toThrow("more than twice");
});

test("no part is larger than the index of a long video", () => {
  const budget = createReadBudget(400 * megabyte);
  budget.take(64 * megabyte);
  expect(() => budget.take(64 * megabyte + 1)).toThrow("too large");
});
