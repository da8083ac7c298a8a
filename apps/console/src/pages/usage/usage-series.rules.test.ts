import { describe, expect, it } from "vitest";
import { errorRate, percent, usageGroups, usageSeries } from "./usage-series.rules.ts";

describe("charts of usage", () => {
  it("are stacked by model unless the address says otherwise", () => {
    expect(usageSeries("requests", {})).toEqual({ metric: "requests", group_by: "model" });
    expect(usageSeries("spend", { by: "key", key: "key_1", mode: "sync" })).toEqual({
      metric: "spend",
      group_by: "key",
      key_id: "key_1",
      mode: "sync",
    });
  });

  it("keep the parts of latency and tokens", () => {
    expect(usageSeries("latency", { by: "key", model: "a/b" })).toEqual({ metric: "latency", model: "a/b" });
  });
});

describe("the table of usage", () => {
  const series = (...rows: [name: string, total: number | null, id?: string][]) => ({
    series: rows.map(([name, total, id = null]) => ({ name, id, total, values: [] })) as never,
  });

  it("joins the charts, most expensive group first and the rest last", () => {
    const rows = usageGroups(
      series(["a/free", 90], ["a/paid", 5], ["other", 5]),
      series(["a/paid", 1], ["other", 3]),
      series(["a/free", 9]),
    );
    expect(rows.map(({ name, share }) => [name, share])).toEqual([
      ["a/paid", 25],
      ["a/free", 0],
      ["other", 75],
    ]);
    expect(rows[1]).toMatchObject({ requests: 90, errors: 9, spent: 0 });
  });

  it("shares by requests if nothing was spent, and keeps keys of the same name apart", () => {
    const rows = usageGroups(series(["web", 3, "key_1"], ["web", 1, "key_2"]), series(), series());
    expect(rows.map(({ id, share }) => [id, share])).toEqual([
      ["key_1", 75],
      ["key_2", 25],
    ]);
  });
});

it("error rates are unknown without figures, and zero without requests", () => {
  expect(errorRate(1, 8)).toBe(12.5);
  expect(errorRate(0, 0)).toBe(0);
  expect(errorRate(null, 8)).toBeUndefined();
  expect([percent(0), percent(0.01), percent(1.25), percent(12.5)]).toEqual(["0%", "<0.1%", "1.3%", "13%"]);
});
