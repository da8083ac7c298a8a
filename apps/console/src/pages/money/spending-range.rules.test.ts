import { expect, test } from "vitest";
import { spendingRange } from "./spending-range.rules.ts";

const now = Date.parse("2026-03-31T12:00:00Z");

test("the chart shows the days of the page", () => {
  expect(spendingRange({ from: "2026-01-01", to: "2026-01-31" }, now)).toEqual({
    from: "2026-01-01",
    to: "2026-01-31",
  });
  expect(spendingRange({ from: "2026-03-01" }, now)).toEqual({ from: "2026-03-01", to: "2026-03-31" });
});

test("open and long ranges are shown as far as a chart can", () => {
  expect(spendingRange({}, now)).toEqual({ range: "90d" });
  expect(spendingRange({ to: "2026-01-31" }, now)).toEqual({ from: "2025-11-03", to: "2026-01-31" });
  expect(spendingRange({ from: "2020-01-01", to: "2026-01-31" }, now)).toEqual({
    from: "2024-12-28",
    to: "2026-01-31",
  });
  expect(spendingRange({}, now, false)).toEqual({ range: "30d" });
  expect(spendingRange({ from: "2026-01-01", to: "2026-01-31" }, now, false)).toEqual({
    from: "2026-01-01",
    to: "2026-01-31",
  });
  expect(spendingRange({ from: "2025-01-01" }, now, false)).toEqual({ from: "2026-03-01", to: "2026-03-31" });
  expect(spendingRange({ from: "2027-01-01" }, now)).toEqual({ from: "2026-03-31", to: "2026-03-31" });
});
