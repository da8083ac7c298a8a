import { expect, test } from "vitest";
import { csvName, csvRange } from "./csv-name.rules.ts";

test("the file has the predictions of the chart and is named by its days", () => {
  const range = csvRange({ from_date: "2026-01-01T00:00:00Z", to_date: "2026-02-01T00:00:00Z" });
  expect(range.to_date).toBe("2026-01-31T23:59:59.999999Z");
  expect(csvName(range)).toBe("usage-from-2026-01-01-to-2026-01-31.csv");
});
