import { expect, test } from "vitest";
import { limitIssue, limitOf, limitText, wordsOfLimits } from "./plan-limits.rules.ts";

test("an empty limit is none, and back", () => {
  expect(limitOf(" ")).toBeNull();
  expect(limitOf("60")).toBe(60);
  expect(limitText(null)).toBe("");
  expect(limitText(60)).toBe("60");
});

test("a limit is a whole number from 1 on", () => {
  for (const text of ["", "1", "600"]) expect(limitIssue(text)).toBeUndefined();
  for (const text of ["0", "-1", "1.5", "many"]) expect(limitIssue(text)).toBeDefined();
});

test("says limits in words", () => {
  expect(wordsOfLimits({ requests_per_minute: 1200, parallel: 32 })).toBe("1,200 a minute, 32 at once");
  expect(wordsOfLimits({ requests_per_minute: null, parallel: 4 })).toBe("any number of requests, 4 at once");
  expect(wordsOfLimits({ requests_per_minute: null, parallel: null })).toBe("no limits");
});
