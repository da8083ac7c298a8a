import { describe, expect, test } from "vitest";
import { messageOf } from "./message.rules.ts";

const website = { id: "key_1", name: "website", member: null, seat: false };
const month = { owner: "anna", key: website, period: "2026-11", limitMicros: 2_000_000 };

describe("the sentence of a notice", () => {
  test.each([
    [750_000, "The balance of anna is $0.75, below $1.00."],
    [1_234, "The balance of anna is $0.001234, below $1.00."],
    [0, "The balance of anna is $0.00, below $1.00."],
    [-12_500_000, "The balance of anna is -$12.50, below $1.00."],
  ])("has the balance: %i", (valueMicros, text) => {
    const balance = { kind: "balance_low", owner: "anna", key: null, period: null, limitMicros: 1_000_000 } as const;
    expect(messageOf({ ...balance, valueMicros })).toBe(text);
  });

  test("has the key or member, the share and the period of a budget", () => {
    expect(messageOf({ ...month, kind: "budget_low", valueMicros: 1_659_999 })).toBe(
      "Key website of anna has used 82% of the budget of $2.00 for November 2026.",
    );
    expect(messageOf({ ...month, kind: "budget_spent", valueMicros: 2_100_000, period: "2026-11-08" })).toBe(
      "Key website of anna has used all of the budget of $2.00 for 8 November 2026.",
    );
    const named = { ...website, name: "", member: "max" };
    expect(messageOf({ ...month, key: named, kind: "budget_spent", valueMicros: 2_000_000 })).toMatch(/^Key key_1 of/);
    expect(messageOf({ ...month, key: { ...named, seat: true }, kind: "budget_low", valueMicros: 1 })).toMatch(
      /^Member max of anna has used 0%/,
    );
  });
});
