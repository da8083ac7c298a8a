import { expect, test } from "vitest";
import {
  limitIssue,
  limitOf,
  limitText,
  quotaIssue,
  quotaOf,
  quotaText,
  wordsOfLimits,
  wordsOfQuota,
} from "./plan-limits.rules.ts";

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
  const stored = { requests_per_minute: 60, parallel: 4, storage_bytes: 104_857_600 };
  expect(wordsOfLimits(stored)).toBe("60 a minute, 4 at once, 100 MB");
});

test("a quota is in MB of 1,048,576 bytes; empty is the default, 0 is none", () => {
  expect([quotaOf(""), quotaOf("0"), quotaOf("1.5")]).toEqual([null, 0, 1_572_864]);
  expect([quotaText(null), quotaText(0), quotaText(1_572_864)]).toEqual(["", "0", "1.5"]);
  for (const text of ["", "0", "100", "0.5"]) expect(quotaIssue(text)).toBeUndefined();
  for (const text of ["-1", "much"]) expect(quotaIssue(text)).toBeDefined();
  expect([null, 0, 1024].map(wordsOfQuota)).toEqual(["default", "any", "1.0 kB"]);
});
