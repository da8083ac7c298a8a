import { expect, test } from "vitest";
import { placeOfMovement, wordsOfMovement } from "./movement.rules.ts";

test("a sale reads differently for who paid and who earned", () => {
  expect(wordsOfMovement({ kind: "sale", amount: -0.1, reference: "run_1" })).toBe("Run of an agent");
  expect(wordsOfMovement({ kind: "sale", amount: 0.1, reference: "run_1" })).toBe("Sale of a run");
});

test("leads to what the owner of the wallet may see", () => {
  expect(placeOfMovement({ kind: "charge", amount: -1, reference: "pred_1" })).toEqual({ prediction: "pred_1" });
  expect(placeOfMovement({ kind: "sale", amount: -0.1, reference: "run_1" })).toEqual({ run: "run_1" });
  expect(placeOfMovement({ kind: "sale", amount: 0.1, reference: "run_1" })).toBeUndefined();
  expect(placeOfMovement({ kind: "credit", amount: 5, reference: null })).toBeUndefined();
});
