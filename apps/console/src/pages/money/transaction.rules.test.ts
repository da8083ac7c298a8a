import { expect, test } from "vitest";
import { agentOf, linkOfTransaction, transactionText } from "./transaction.rules.ts";

const none = { reference: null, model_name: null };

test("a charge names its model as long as the usage has it", () => {
  expect(transactionText({ ...none, kind: "charge", amount: -1, model_name: "gantry/image" })).toBe("gantry/image");
  expect(transactionText({ ...none, kind: "charge", amount: -1 })).toBe("Predictions");
});

test("a sale reads differently for buyer and seller", () => {
  const bought = { kind: "sale", amount: -0.1, reference: "run_1", model_name: "agents/ann/reporter" } as const;
  expect(transactionText(bought)).toBe("Agent ann/reporter");
  expect(transactionText({ ...bought, model_name: null })).toBe("Agent run");
  expect(transactionText({ ...bought, amount: 0.1, model_name: null })).toBe("Revenue from an agent run");
});

test("transactions link only to resources that the user may see", () => {
  expect(linkOfTransaction({ ...none, kind: "charge", amount: -1, reference: "pred_1" })).toEqual({
    prediction: "pred_1",
  });
  expect(linkOfTransaction({ ...none, kind: "sale", amount: -0.1, reference: "run_1" })).toEqual({ run: "run_1" });
  expect(linkOfTransaction({ ...none, kind: "sale", amount: 0.1, reference: "run_1" })).toBeUndefined();
  expect(linkOfTransaction({ ...none, kind: "credit", amount: 5 })).toBeUndefined();
});

test("agents and models are distinguished", () => {
  expect(agentOf("agents/ann/reporter")).toEqual({ creator: "ann", slug: "reporter", label: "ann/reporter" });
  expect(agentOf("gantry/image")).toBeUndefined();
});
