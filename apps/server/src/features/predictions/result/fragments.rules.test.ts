import { describe, expect, test } from "vitest";
import { originalText, storableText, wholePairs } from "./fragments.rules.ts";

const texts = [
  "",
  "plain",
  "ünïcödé 🦄",
  "a\0b\0",
  "\ud83e",
  "\udd84 first",
  "\ud83e\ud83e\udd84\udd84",
  "\uffff",
  "\uffff0000",
  "\uffff\0\ud83e0000",
];

describe("storable text", () => {
  test.each(texts.map((text) => [JSON.stringify(text), text]))("%s comes back as it was", (_, text) => {
    const stored = storableText(text);
    expect(stored.isWellFormed()).toBe(true);
    expect(stored).not.toContain("\0");
    expect(originalText(stored)).toBe(text);
  });

  test("is unchanged without special characters", () => {
    expect(storableText("ünïcödé 🦄")).toBe("ünïcödé 🦄");
  });
});

test.each([
  ["a\ud83e", "a"],
  ["a\ud83e\udd84", "a\ud83e\udd84"],
  ["a\udd84", "a\udd84"],
  ["\ud83e", ""],
  ["", ""],
])("of %j, %j can be sent", (text, whole) => {
  expect(wholePairs(text)).toBe(whole);
});
