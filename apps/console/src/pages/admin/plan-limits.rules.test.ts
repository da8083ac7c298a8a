import { expect, test } from "vitest";
import {
  limitIssue,
  limitOf,
  limitsText,
  limitText,
  quotaIssue,
  quotaLabel,
  quotaOf,
  quotaText,
} from "./plan-limits.rules.ts";

test("an empty field means no limit", () => {
  expect(limitOf(" ")).toBeNull();
  expect(limitOf("60")).toBe(60);
  expect(limitText(null)).toBe("");
  expect(limitText(60)).toBe("60");
});

test("a limit is a whole number of at least 1", () => {
  for (const text of ["", "1", "600"]) expect(limitIssue(text)).toBeUndefined();
  for (const text of ["0", "-1", "1.5", "many"]) expect(limitIssue(text)).toBeDefined();
});

test("limits are described in one line", () => {
  expect(limitsText({ requests_per_minute: 1200, parallel: 32 })).toBe("1,200 requests/min, 32 concurrent");
  expect(limitsText({ requests_per_minute: null, parallel: 4 })).toBe("Unlimited requests, 4 concurrent");
  expect(limitsText({ requests_per_minute: null, parallel: null })).toBe("No limits");
  const stored = { requests_per_minute: 60, parallel: 4, storage_bytes: 104_857_600 };
  expect(limitsText(stored)).toBe("60 requests/min, 4 concurrent, 100 MB storage");
});

test("a quota is in MB of 1,048,576 bytes; empty is the default, 0 is unlimited", () => {
  expect([quotaOf(""), quotaOf("0"), quotaOf("1.5")]).toEqual([null, 0, 1_572_864]);
  expect([quotaText(null), quotaText(0), quotaText(1_572_864)]).toEqual(["", "0", "1.5"]);
  for (const text of ["", "0", "100", "0.5"]) expect(quotaIssue(text)).toBeUndefined();
  for (const text of ["-1", "much"]) expect(quotaIssue(text)).toBeDefined();
  expect([null, 0, 1024].map(quotaLabel)).toEqual(["Default", "Unlimited", "1.0 kB"]);
});
