import { expect, test } from "vitest";
import { citation } from "./citation.rules.ts";

test.each([
  [{ page: 3, line_from: 10, line_to: 24 }, "page 3, lines 10–24"],
  [{ line_from: 7, line_to: 7 }, "line 7"],
  [{ line_from: 7 }, "line 7"],
  [{ page: 2 }, "page 2"],
  [{}, ""],
])("%o", (where, text) => {
  expect(citation({ path: "/a.md", text: "", score: 1, ...where })).toBe(text);
});
