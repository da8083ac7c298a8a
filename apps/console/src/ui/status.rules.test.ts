import { expect, test } from "vitest";
import { statusWord } from "./status.rules.ts";

const word = (...given: Parameters<typeof statusWord>) => statusWord(...given).word;

test("predictions have words, not numbers", () => {
  expect(["waiting", "running", "succeeded", "cancelled"].map((status) => word(status))).toEqual([
    "Waiting",
    "Running",
    "Succeeded",
    "Cancelled",
  ]);
  expect([422, 403, 429, 499, 408, 504, 500, 502, null].map((code) => word("failed", code))).toEqual([
    "Refused",
    "Refused",
    "Refused",
    "Cancelled",
    "Timed out",
    "Timed out",
    "Failed",
    "Failed",
    "Failed",
  ]);
});

test("runs and their steps use the same words", () => {
  expect(["pending", "running", "done", "denied"].map((status) => word(status))).toEqual([
    "Waiting",
    "Running",
    "Succeeded",
    "Denied",
  ]);
  expect(["cancelled", "timeout", "insufficient_funds", "internal", undefined].map((c) => word("error", c))).toEqual([
    "Cancelled",
    "Timed out",
    "Refused",
    "Failed",
    "Failed",
  ]);
});
