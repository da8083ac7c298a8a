import { expect, test } from "vitest";
import { chosenRange, isBackwards, momentsOf, presets } from "./date-range.rules.ts";

const named = (name: string, now: string) => presets(new Date(now)).find((preset) => preset.name === name)?.range;

test("presets are whole days of UTC, today included", () => {
  expect(named("Last 7 days", "2026-03-03T23:59:59Z")).toEqual({ from: "2026-02-25", to: "2026-03-03" });
  expect(named("This month", "2026-03-01T00:00:00Z")).toEqual({ from: "2026-03-01", to: "2026-03-01" });
  expect(named("Last month", "2026-03-31T12:00:00Z")).toEqual({ from: "2026-02-01", to: "2026-02-28" });
  expect(named("Last month", "2026-01-15T12:00:00Z")).toEqual({ from: "2025-12-01", to: "2025-12-31" });
});

test("without a choice it is the last 30 days; a side may stay open", () => {
  const now = new Date("2026-03-31T12:00:00Z");
  expect(chosenRange({}, now)).toEqual({ from: "2026-03-02", to: "2026-03-31" });
  expect(chosenRange({ from: "2020-01-01" }, now)).toEqual({ from: "2020-01-01", to: undefined });
});

test("the last day counts to its last moment", () => {
  expect(momentsOf({ from: "2026-01-01", to: "2026-01-31" })).toEqual({
    from: "2026-01-01T00:00:00Z",
    to: "2026-01-31T23:59:59.999999Z",
  });
  expect(momentsOf({ to: "2026-01-31" })).toEqual({ to: "2026-01-31T23:59:59.999999Z" });
});

test("knows a range that ends before it begins", () => {
  expect(isBackwards({ from: "2026-02-01", to: "2026-01-31" })).toBe(true);
  expect(isBackwards({ from: "2026-01-31", to: "2026-01-31" })).toBe(false);
  expect(isBackwards({ from: "2026-01-31" })).toBe(false);
});
