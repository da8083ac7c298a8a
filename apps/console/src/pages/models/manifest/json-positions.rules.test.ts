import { describe, expect, it } from "vitest";
import { InvalidJson, positionsIn } from "./json-positions.rules.ts";

const text = `{
  "title": "A \\"quoted\\" {title}",
  "input": {
    "required": ["a", "b"],
    "properties": {
      "a": { "type": "string" },
      "b": {
        "type": 7
      }
    }
  },
  "list": [
    1,
    { "deep": null }
  ]
}`;

describe("JSON positions", () => {
  it("finds a value by its path, including list entries", () => {
    const { lineOf } = positionsIn(text);
    expect(lineOf(["title"])).toBe(2);
    expect(lineOf(["input", "properties", "b", "type"])).toBe(8);
    expect(lineOf(["list", 1, "deep"])).toBe(14);
  });

  it("falls back to the closest ancestor of a missing value", () => {
    const { lineOf } = positionsIn(text);
    expect(lineOf(["input", "properties", "b", "format"])).toBe(7);
    expect(lineOf(["backend"])).toBe(1);
  });

  it.each([
    ['{\n  "a": 1,\n}', 3],
    ['{\n  "a" 1\n}', 2],
    ['{\n  "a": tru\n}', 2],
    ['{"a": 1}\n}', 2],
    ["", 1],
    ["[1,\n 2", 2],
  ])("finds the line of the syntax error in %j", (broken, line) => {
    expect(() => positionsIn(broken)).toThrow(InvalidJson);
    try {
      positionsIn(broken);
    } catch (error) {
      expect((error as InvalidJson).line).toBe(line);
    }
  });
});
