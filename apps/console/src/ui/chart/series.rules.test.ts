import type { SeriesRecord } from "@gantry/sdk";
import { describe, expect, test } from "vitest";
import {
  axisText,
  axisTick,
  coloursOf,
  hasNothingToShow,
  hasUnknown,
  kindOf,
  seriesName,
  sumAt,
  valueText,
} from "./series.rules.ts";

const record = (
  series: [name: string, values: (number | null)[]][],
  rest: Partial<SeriesRecord> = {},
): SeriesRecord => ({
  metric: "spend",
  unit: "dollars",
  step: "day",
  group_by: "model",
  from_date: "2026-01-01T00:00:00.000Z",
  to_date: "2026-01-03T00:00:00.000Z",
  times: ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"],
  total: null,
  series: series.map(([name, values]) => ({ name, id: null, values, total: null })),
  ...rest,
});

test("amounts are bars, levels and overlapping parts are lines", () => {
  const kinds = (["spend", "requests", "errors", "latency", "tokens", "queue"] as const).map((metric) =>
    kindOf({ metric, group_by: "none" }),
  );
  expect(kinds).toEqual(["bars", "bars", "bars", "line", "line", "line"]);
  expect(kindOf({ metric: "tokens", group_by: "model" })).toBe("bars");
});

test("a model or key keeps its name, even if it is a word of the service", () => {
  expect(seriesName({ group_by: "mode" }, "async")).toBe("Queued");
  expect(seriesName({ group_by: "key" }, "async")).toBe("async");
  expect(seriesName({ group_by: "key" }, "")).toBe("Unnamed key");
});

const coloursBy = (group_by: SeriesRecord["group_by"], names: string[], known = new Map<string, number>()) =>
  coloursOf(
    record(
      names.map((name) => [name, []]),
      { group_by },
    ),
    known,
  );

test("a status has its own colour, a model or key of the same name does not", () => {
  expect(coloursBy("status", ["failed"])).toEqual(["--bad"]);
  expect(coloursBy("key", ["website", "failed"])).toEqual(["--chart-1", "--chart-2"]);
  expect(coloursBy("model", ["a/b", "other"])).toEqual(["--chart-1", "--chart-rest"]);
});

test("a model keeps its colour in charts of another order, and no two of a chart share one", () => {
  const known = new Map<string, number>();
  expect(coloursBy("model", ["a/b", "c/d"], known)).toEqual(["--chart-1", "--chart-2"]);
  expect(coloursBy("model", ["e/f", "c/d", "a/b"], known)).toEqual(["--chart-3", "--chart-2", "--chart-1"]);
  const many = ["1/a", "2/a", "3/a", "4/a", "5/a", "6/a", "c/d", "a/b"];
  expect(new Set(coloursBy("model", many, known)).size).toBe(8);
});

test("dollars of a step add up exactly, without hidden series", () => {
  const data = record([
    ["a/b", [0.1, 0]],
    ["c/d", [0.2, null]],
    ["e/f", [0.000001, 4]],
  ]);
  expect(sumAt(data, 0, new Set())).toBe(0.300001);
  expect(sumAt(data, 1, new Set(["a/b"]))).toBe(4);
  expect(sumAt(data, 1, new Set(["a/b", "c/d"]))).toBeUndefined();
});

test("zeros are nothing to draw as bars, and a line at zero is", () => {
  expect(hasNothingToShow(record([["a/b", [0, 0]]]))).toBe(true);
  expect(hasNothingToShow(record([["input", [0, 0]]], { metric: "tokens", unit: "tokens", group_by: "none" }))).toBe(
    true,
  );
  expect(hasNothingToShow(record([["queue", [0, null]]], { metric: "queue", group_by: "none" }))).toBe(false);
  expect(hasNothingToShow(record([["p50", [null, null]]], { metric: "latency" }))).toBe(true);
  expect(hasUnknown(record([["a/b", [null, 1]]]))).toBe(true);
});

describe("texts", () => {
  test.each([
    [0, "dollars", 0.5, "$0"],
    [0.5, "dollars", 0.5, "$0.50"],
    [0.002, "dollars", 0.002, "$0.002"],
    [0.00001, "dollars", 0.000005, "$0.000010"],
    [40, "dollars", 20, "$40"],
    [25_000, "dollars", 5_000, "$25k"],
    [1_500, "tokens", 500, "1.5k"],
    [2_000_000, "tokens", 500_000, "2M"],
    [0.25, "seconds", 0.05, "250 ms"],
    [2.5, "seconds", 0.5, "2.5 s"],
    [300, "seconds", 60, "5 min"],
    [3, "count", 1, "3"],
  ] as const)("%d %s by %d is %s", (value, unit, step, text) => {
    expect(axisText(value, unit, step)).toBe(text);
  });

  test("a tooltip is exact", () => {
    expect([valueText(0.0015, "dollars"), valueText(1_234_567, "tokens"), valueText(null, "count")]).toEqual([
      "$0.0015",
      "1,234,567",
      "–",
    ]);
  });
});

test("hours of several days have the days on their axis, and hours of one day the time", () => {
  const hours = (count: number) => ({
    step: "hour" as const,
    times: Array.from({ length: count }, (_, n) => new Date(2026, 5, 1, 20 + n).toISOString()),
  });
  const ticks = (count: number) => hours(count).times.map((_, n) => axisTick(hours(count), n));
  const week = ticks(120).filter((tick) => tick !== undefined);
  expect(week).toHaveLength(5);
  expect(new Set(week).size).toBe(5);
  expect(week[0]).toMatch(/2/);
  expect(ticks(24)).not.toContain(undefined);
  expect(axisTick(hours(24), 0)).toMatch(/8|20/);
  expect(axisTick(hours(24), 99)).toBeUndefined();
});
