import { describe, expect, it } from "vitest";
import { fieldRows, typeText } from "./schema-text.rules.ts";

it.each([
  [{ type: "string" }, "text"],
  [{ type: "string", minLength: 1, maxLength: 2000 }, "text of 1 to 2,000 characters"],
  [{ type: ["integer", "null"], minimum: 1, maximum: 64000 }, "integer from 1 to 64,000"],
  [{ type: ["string", "number"] }, "text or number"],
  [{ type: "number", minimum: 0 }, "number from 0"],
  [{ type: "boolean" }, "yes or no"],
  [{ type: ["string", "null"], enum: ["fast", null] }, "one of fast"],
  [{ type: "integer", enum: [1, 2] }, "one of 1, 2"],
  [{ type: "array" }, "list"],
  [{ type: "array", items: {} }, "list"],
  [{ type: "array", items: { type: "string" }, maxItems: 5 }, "list of text of at most 5 entries"],
  [{ type: "object", properties: { depth: {}, name: {} } }, "object with depth, name"],
  [{ type: "string", format: "date-time" }, "text (date and time)"],
  [{ type: "string", isStream: true }, "text (streamed)"],
  [{ type: "string", format: "binary", "x-media": "image" }, "image file"],
  [
    { type: "string", format: "binary", "x-media": "video", "x-formats": [".mp4"], "x-max-duration": 30 },
    "video file (.mp4) up to 30 seconds",
  ],
  [{}, "anything"],
])("describes the type of %j", (schema, text) => {
  expect(typeText(schema)).toBe(text);
});

describe("fields of an object", () => {
  it("list required ones first, with defaults", () => {
    const rows = fieldRows({
      properties: {
        count: { type: "integer", default: 3 },
        none: { type: "string", default: null, description: "" },
        prompt: { type: "string", description: "What to draw." },
      },
      required: ["prompt"],
    });
    expect(rows).toEqual([
      { name: "prompt", kind: "text", isRequired: true, initial: undefined, description: "What to draw." },
      { name: "count", kind: "integer", isRequired: false, initial: "3", description: undefined },
      { name: "none", kind: "text", isRequired: false, initial: undefined, description: undefined },
    ]);
  });

  it("tolerate a malformed schema", () => {
    expect(fieldRows({})).toEqual([]);
    const odd = { properties: { a: true, b: null }, required: "a" };
    expect(fieldRows(odd).map(({ kind }) => kind)).toEqual(["anything", "anything"]);
  });
});
