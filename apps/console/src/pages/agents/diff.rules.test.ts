import { expect, test } from "vitest";
import { asText, diffLines } from "./diff.rules.ts";

const shown = (before: string, after: string) => diffLines(before, after).map(({ sign, text }) => `${sign}${text}`);

test("lines are kept, removed or added", () => {
  expect(shown("a\nb\nc", "a\nc\nd")).toEqual([" a", "-b", " c", "+d"]);
  expect(shown("a", "b")).toEqual(["-a", "+b"]);
  expect(shown("", "a\n")).toEqual(["+a", "+"]);
  expect(shown("same", "same")).toEqual([" same"]);
});

test("a diff contains both texts", () => {
  const [before, after] = ["x\ny\nz\ny\nq", "y\nz\nz\nq\nx"];
  const lines = diffLines(before, after);
  const side = (left: "+" | "-") => lines.filter(({ sign }) => sign !== left).map(({ text }) => text);
  expect(side("+").join("\n")).toBe(before);
  expect(side("-").join("\n")).toBe(after);
});

test("very long texts are not compared line by line", () => {
  const long = Array.from({ length: 1000 }, (_, n) => `line ${n}`).join("\n");
  expect(diffLines(long, long)).toHaveLength(2000);
});

test("values are compared as text", () => {
  expect(asText(null)).toBe("");
  expect(asText("goal")).toBe("goal");
  expect(asText({ per_run: 1 })).toBe('{\n  "per_run": 1\n}');
});
