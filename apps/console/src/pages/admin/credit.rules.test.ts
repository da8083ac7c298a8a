import { expect, test } from "vitest";
import { balanceAfter, signedAmount } from "./credit.rules.ts";

test("the direction gives the sign", () => {
  expect(signedAmount("5", "add")).toBe(5);
  expect(signedAmount(" 0.25 ", "take")).toBe(-0.25);
});

test("nothing, less than nothing and no number are no amount", () => {
  for (const text of ["", " ", "0", "-5", "five", "Infinity"]) expect(signedAmount(text, "add")).toBeUndefined();
});

test("adds up as the books do", () => {
  expect(balanceAfter(0.1, 0.2)).toBe(0.3);
  expect(balanceAfter(3.54, -5)).toBe(-1.46);
});
