import { expect, test } from "vitest";
import { lastPageInstead } from "./paged.rules.ts";

const nothing = { results: [], page_size: 20 };

test("a page beyond the end leads to the last page", () => {
  expect(lastPageInstead({ ...nothing, page: 16, total_pages: 15 })).toBe(15);
  expect(lastPageInstead({ ...nothing, page: 900, total_pages: 1 })).toBe(1);
  // Counted before the last entry was deleted.
  expect(lastPageInstead({ ...nothing, page: 3, total_pages: 3 })).toBe(2);
});

test("a page with entries and an empty list stay", () => {
  expect(lastPageInstead({ results: ["one"], page: 2, total_pages: 2 })).toBeUndefined();
  expect(lastPageInstead({ ...nothing, page: 1, total_pages: 1 })).toBeUndefined();
  expect(lastPageInstead({ ...nothing, page: 4, total_pages: 0 })).toBeUndefined();
});
