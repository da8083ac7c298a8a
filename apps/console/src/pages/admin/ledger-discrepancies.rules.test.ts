import { expect, test } from "vitest";
import { discrepancyText, figureOf } from "./ledger-discrepancies.rules.ts";

const broken = (rule: string, subject = "usr_1") => ({ rule, subject, expected: 0, found: 0 });

test("figures are dollars or counts, depending on the rule", () => {
  expect(discrepancyText(broken("wallet_balance"))).toBe("A balance is not the sum of its transactions");
  expect(figureOf(broken("wallet_balance"), 1_500_000)).toBe("$1.50");
  expect(figureOf(broken("wallet_balance"), -5)).toBe("−$0.000005");
  expect(figureOf(broken("model_waiting"), 1_500)).toBe("1,500");
  expect(figureOf(broken("usage_without_charge"), null)).toBe("None");
});

test("the entry for the remaining discrepancies is a count", () => {
  expect(figureOf(broken("wallets", "and 10 more"), 10)).toBe("10");
  expect(discrepancyText(broken("wallets", "and 10 more"))).toBe("More discrepancies of the check “wallets”");
});

test("an unknown rule keeps its name and figures", () => {
  expect(discrepancyText(broken("new_rule"))).toBe("new_rule");
  expect(figureOf(broken("new_rule"), 5)).toBe("5");
});
