import { expect, test } from "vitest";
import { chosenRange, daysShown, rangeQuery, rangeSearch, rangeText } from "./range.rules.ts";

const now = Date.parse("2026-03-10T14:35:00Z");

test("invalid ranges are dropped from the address", () => {
  expect(rangeSearch({ range: "7d" })).toEqual({ range: "7d" });
  expect(rangeSearch({ range: "8d", from: "2026-01-01" })).toEqual({});
  expect(rangeSearch({ range: "7d", from: "2026-01-01", to: "2026-01-31" })).toEqual({
    from: "2026-01-01",
    to: "2026-01-31",
  });
  expect(rangeSearch({ from: "2026-01-31", to: "2026-01-01" })).toEqual({});
  expect(rangeSearch({ from: "2024-01-01", to: "2026-01-01" })).toEqual({});
  expect(chosenRange({}, "30d")).toEqual({ range: "30d" });
});

test("a range up to now ends with the current step", () => {
  expect(rangeQuery({ range: "24h" }, { now })).toEqual({
    from_date: "2026-03-09T15:35:00.000Z",
    to_date: "2026-03-10T14:35:00.000Z",
    step: "hour",
  });
  expect(rangeQuery({ range: "7d" }, { now })).toMatchObject({ from_date: "2026-03-04T14:35:00.000Z", step: "day" });
  expect(rangeQuery({ range: "7d" }, { now, isFine: true })).toMatchObject({
    from_date: "2026-03-03T15:35:00.000Z",
    step: "hour",
  });
  expect(rangeQuery({ range: "90d" }, { now, isFine: true }).step).toBe("day");
});

test("days are whole days of UTC", () => {
  expect(rangeQuery({ from: "2026-01-01", to: "2026-01-02" }, { now })).toEqual({
    from_date: "2026-01-01T00:00:00Z",
    to_date: "2026-01-02T23:59:59.999Z",
    step: "hour",
  });
  expect(rangeQuery({ from: "2026-01-01", to: "2026-01-31" }, { now }).step).toBe("day");
  expect(daysShown({ range: "7d" }, now)).toEqual({ from: "2026-03-03", to: "2026-03-10" });
  expect(rangeText({ range: "24h" })).toBe("last 24 hours");
});
