import { describe, expect, it } from "vitest";
import { costOf } from "./history-row.rules.ts";

describe("a row of the history", () => {
  it("shows the cost, or the amount on hold", () => {
    expect(costOf({ price: 0.03, reserved: 0 })).toBe("$0.03");
    expect(costOf({ price: 0, reserved: 0 })).toBe("Free");
    expect(costOf({ price: null, reserved: 0.05 })).toBe("$0.05 on hold");
    expect(costOf({ price: null, reserved: 0 })).toBe("");
  });
});
