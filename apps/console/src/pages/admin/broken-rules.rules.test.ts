import { expect, test } from "vitest";
import { figureOf, wordsOfDiscrepancy } from "./broken-rules.rules.ts";

const broken = (rule: string, subject = "usr_1") => ({ rule, subject, expected: 0, found: 0 });

test("figures are dollars or things, as the rule counts", () => {
  expect(wordsOfDiscrepancy(broken("wallet_balance"))).toBe("A balance is not the sum of its movements");
  expect(figureOf(broken("wallet_balance"), 1_500_000)).toBe("$1.50");
  expect(figureOf(broken("wallet_balance"), -5)).toBe("−$0.000005");
  expect(figureOf(broken("model_waiting"), 1_500)).toBe("1,500");
  expect(figureOf(broken("usage_without_charge"), null)).toBe("nothing");
});

test("the line that counts the rest is no amount", () => {
  expect(figureOf(broken("wallets", "and 10 more"), 10)).toBe("10");
  expect(wordsOfDiscrepancy(broken("wallets", "and 10 more"))).toBe("More of the check “wallets”");
});

test("a rule that is not known keeps its name and its figures", () => {
  expect(wordsOfDiscrepancy(broken("new_rule"))).toBe("new_rule");
  expect(figureOf(broken("new_rule"), 5)).toBe("5");
});
