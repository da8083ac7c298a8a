import { expect, test } from "vitest";
import { deletedText, selectedOf, toggled } from "./selection.rules.ts";

test("a second click takes a file out of the selection", () => {
  const one = toggled(new Set(), "a");
  expect([...toggled(one, "b")]).toEqual(["a", "b"]);
  expect([...toggled(one, "a")]).toEqual([]);
  expect([...one]).toEqual(["a"]);
});

test("files of other pages do not count", () => {
  expect(selectedOf([{ id: "a" }, { id: "b" }], new Set(["b", "c"]))).toEqual([{ id: "b" }]);
});

test("says how many files were deleted", () => {
  expect([deletedText(1, 1), deletedText(3, 3), deletedText(2, 3)]).toEqual([
    "1 file deleted",
    "3 files deleted",
    "2 of 3 files deleted",
  ]);
});
