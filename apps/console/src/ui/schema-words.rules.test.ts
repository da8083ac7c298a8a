import { describe, expect, it } from "vitest";
import { parameterRows, typeWords } from "./schema-words.rules.ts";

describe("the words for a schema", () => {
  it.each([
    [{ type: "string" }, "text"],
    [{ type: ["string", "null"] }, "text or nothing"],
    [{ type: "array", items: { type: "integer" } }, "list of whole number"],
    [{ type: "array" }, "list"],
    [{ type: "string", enum: ["a", "b"] }, "one of a few"],
    [{}, undefined],
  ])("%j is %s", (schema, words) => {
    expect(typeWords(schema)).toBe(words);
  });
});

describe("the arguments of a tool", () => {
  it("come with what must be given first", () => {
    const rows = parameterRows({
      properties: { loud: { type: "boolean", default: false }, kind: { enum: ["a", 1], description: "Which." } },
      required: ["kind"],
    });
    expect(rows).toEqual([
      {
        name: "kind",
        type: "one of a few",
        isRequired: true,
        description: "Which.",
        choices: ["a", "1"],
        byDefault: undefined,
      },
      { name: "loud", type: "yes or no", isRequired: false, description: "", choices: [], byDefault: "false" },
    ]);
  });

  it("are none where the schema has none, whatever else it is", () => {
    expect(parameterRows({})).toEqual([]);
    const odd = { properties: { a: true, b: null }, required: "a" } as unknown as Parameters<typeof parameterRows>[0];
    expect(parameterRows(odd).map(({ type }) => type)).toEqual(["anything", "anything"]);
  });
});
