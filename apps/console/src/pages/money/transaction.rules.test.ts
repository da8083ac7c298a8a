import { expect, test } from "vitest";
import { linkOfTransaction, transactionText } from "./transaction.rules.ts";

test("a sale reads differently for buyer and seller", () => {
  expect(transactionText({ kind: "sale", amount: -0.1, reference: "run_1" })).toBe("Agent run");
  expect(transactionText({ kind: "sale", amount: 0.1, reference: "run_1" })).toBe("Revenue from an agent run");
});

test("transactions link only to resources that the user may see", () => {
  expect(linkOfTransaction({ kind: "charge", amount: -1, reference: "pred_1" })).toEqual({ prediction: "pred_1" });
  expect(linkOfTransaction({ kind: "sale", amount: -0.1, reference: "run_1" })).toEqual({ run: "run_1" });
  expect(linkOfTransaction({ kind: "sale", amount: 0.1, reference: "run_1" })).toBeUndefined();
  expect(linkOfTransaction({ kind: "credit", amount: 5, reference: null })).toBeUndefined();
});
