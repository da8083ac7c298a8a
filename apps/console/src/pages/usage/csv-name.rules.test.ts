import { expect, test } from "vitest";
import { csvName } from "./csv-name.rules.ts";

test("the file name contains the range", () => {
  expect(csvName({ from: "2026-01-01", to: "2026-01-31" })).toBe("usage-from-2026-01-01-to-2026-01-31.csv");
  expect(csvName({})).toBe("usage.csv");
});
