import { expect, test } from "vitest";
import { balanceAfter, signedAmount } from "./credit.rules.ts";

test("the direction sets the sign", () => {
  expect(signedAmount("5", "add")).toBe(5);
  expect(signedAmount(" 0.25 ", "take")).toBe(-0.25);
});

test("empty, zero, negative and non-numeric text is rejected", () => {
  for (const text of ["", " ", "0", "-5", "five", "Infinity"]) expect(signedAmount(text, "add")).toBeUndefined();
});

test("the new balance is exact", () => {
  expect(balanceAfter(0.1, 0.2)).toBe(0.3);
  expect(balanceAfter(3.54, -5)).toBe(-1.46);
});
