import { expect, test } from "vitest";
import { isBrokenForGood, pauseBeforeNextTry } from "./input-waits.rules.ts";

test("the pause doubles with each try up to a minute, however the first one began", () => {
  const seconds = (claims: number[]) => claims.map((claim) => pauseBeforeNextTry(claim) / 1000);
  // Started with its acceptance, or claimed from the line.
  expect(seconds([1, 3, 5, 7, 9, 11, 13])).toEqual([2, 4, 8, 16, 32, 60, 60]);
  expect(seconds([2, 4, 6, 8, 10, 12, 2_000_000])).toEqual([2, 4, 8, 16, 32, 60, 60]);
});

test("the fifth break of a download is its last", () => {
  expect([1, 4, 5, 6].map(isBrokenForGood)).toEqual([false, false, true, true]);
});
