import { expect, test } from "vitest";
import { spansAround } from "./prediction-spans.rules.ts";

test("searches around the time, then the minute after it", () => {
  expect(spansAround("2026-01-31T10:00:00.123456Z")).toEqual([
    { from_date: "2026-01-31T09:59:59.123Z", to_date: "2026-01-31T10:00:01.123Z" },
    { from_date: "2026-01-31T10:00:01.123Z", to_date: "2026-01-31T10:01:00.123Z" },
  ]);
});

test("searches the newest records without a time", () => {
  expect(spansAround(undefined)).toEqual([{}]);
});
