import { describe, expect, it } from "vitest";
import { NoJson, placesIn } from "./json-places.rules.ts";

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

describe("places in JSON", () => {
  it("finds a value by its path, also within lists", () => {
    const { lineOf } = placesIn(text);
    expect(lineOf(["title"])).toBe(2);
    expect(lineOf(["input", "properties", "b", "type"])).toBe(8);
    expect(lineOf(["list", 1, "deep"])).toBe(14);
  });

  it("takes what is nearest above where something is missing", () => {
    const { lineOf } = placesIn(text);
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
  ])("tells in which line %j stops being JSON", (broken, line) => {
    expect(() => placesIn(broken)).toThrow(NoJson);
    try {
      placesIn(broken);
    } catch (error) {
      expect((error as NoJson).line).toBe(line);
    }
  });
});
