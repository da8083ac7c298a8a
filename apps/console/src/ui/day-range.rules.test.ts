import { describe, expect, it } from "vitest";
import { dayRange, endingAt, momentsOf, presets } from "./day-range.rules.ts";

describe("day range", () => {
  it("is read from search parameters without invalid days", () => {
    expect(dayRange({ from: "2026-01-31", to: "2026-02-30" })).toEqual({ from: "2026-01-31" });
    expect(dayRange({ from: "yesterday", to: 7 })).toEqual({});
    expect(dayRange({ from: "2026-02-01", to: "2026-01-01" })).toEqual({ from: "2026-02-01" });
  });

  it("spans its first to its last microsecond", () => {
    expect(momentsOf({ from: "2026-01-31", to: "2026-01-31" })).toEqual({
      first: "2026-01-31T00:00:00Z",
      last: "2026-01-31T23:59:59.999999Z",
    });
    expect(momentsOf({})).toEqual({ first: undefined, last: undefined });
  });

  it("ends at the day that was chosen last", () => {
    expect(endingAt({ from: "2026-02-01" }, "2026-02-03")).toEqual({ from: "2026-02-01", to: "2026-02-03" });
    expect(endingAt({ from: "2026-02-01" }, "2026-01-03")).toEqual({ to: "2026-01-03" });
    expect(endingAt({ from: "2026-02-01", to: "2026-02-03" }, "")).toEqual({ from: "2026-02-01" });
  });
});

describe("preset ranges", () => {
  const named = (name: string, now: string) => presets(new Date(now)).find((preset) => preset.name === name)?.range;

  it("are whole UTC days and include today", () => {
    expect(named("Today", "2026-03-01T23:30:00Z")).toEqual({ from: "2026-03-01", to: "2026-03-01" });
    expect(named("Last 7 days", "2026-03-03T23:59:59Z")).toEqual({ from: "2026-02-25", to: "2026-03-03" });
    expect(named("This month", "2026-03-01T00:00:00Z")).toEqual({ from: "2026-03-01", to: "2026-03-01" });
    expect(named("Last month", "2026-03-31T12:00:00Z")).toEqual({ from: "2026-02-01", to: "2026-02-28" });
    expect(named("Last month", "2026-01-15T12:00:00Z")).toEqual({ from: "2025-12-01", to: "2025-12-31" });
    expect(named("All", "2026-01-15T12:00:00Z")).toEqual({});
  });
});
