import { describe, expect, it } from "vitest";
import { csvName, dayRange, lastDays, momentsOf } from "./day-range.rules.ts";

describe("a range of days", () => {
  it("is read from an address, without what is no day", () => {
    expect(dayRange({ from: "2026-01-31", to: "2026-02-30" })).toEqual({ from: "2026-01-31" });
    expect(dayRange({ from: "yesterday", to: 7 })).toEqual({});
    expect(dayRange({ from: "2026-02-01", to: "2026-01-01" })).toEqual({ from: "2026-02-01" });
  });

  it("goes from the first moment to the last", () => {
    expect(momentsOf({ from: "2026-01-31", to: "2026-01-31" })).toEqual({
      first: "2026-01-31T00:00:00Z",
      last: "2026-01-31T23:59:59.999999Z",
    });
    expect(momentsOf({})).toEqual({ first: undefined, last: undefined });
  });

  it("counts today", () => {
    const now = new Date("2026-03-01T23:30:00Z");
    expect(lastDays(1, now)).toEqual({ from: "2026-03-01", to: "2026-03-01" });
    expect(lastDays(7, now)).toEqual({ from: "2026-02-23", to: "2026-03-01" });
  });

  it("names a file", () => {
    expect(csvName({ from: "2026-01-01", to: "2026-01-31" })).toBe("usage-from-2026-01-01-to-2026-01-31.csv");
    expect(csvName({})).toBe("usage.csv");
  });
});
