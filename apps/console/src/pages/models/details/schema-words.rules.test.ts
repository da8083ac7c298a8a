import { expect, it } from "vitest";
import { kindInWords, rowsOf, spanInWords } from "./schema-words.rules.ts";

it.each([
  [{ type: "string" }, "text"],
  [{ type: "string", minLength: 1, maxLength: 2000 }, "text of 1 to 2,000 characters"],
  [{ type: ["integer", "null"], minimum: 1, maximum: 64000 }, "whole number from 1 to 64,000"],
  [{ type: "number", minimum: 0 }, "number from 0"],
  [{ type: "boolean" }, "yes or no"],
  [{ type: ["string", "null"], enum: ["fast", null] }, "one of fast"],
  [{ type: "integer", enum: [1, 2] }, "one of 1, 2"],
  [{ type: "array", items: { type: "string" }, maxItems: 5 }, "list of text of at most 5 entries"],
  [{ type: "object", properties: { depth: {}, name: {} } }, "object with depth, name"],
  [{ type: "string", format: "date-time" }, "text (date and time)"],
  [{ type: "string", isStream: true }, "text (streamed)"],
  [{ type: "string", format: "binary", "x-media": "image" as const }, "image file"],
  [
    { type: "string", format: "binary", "x-media": "video" as const, "x-formats": [".mp4"], "x-max-duration": 30 },
    "video file (.mp4) of 30 seconds at most",
  ],
])("says what a field holds: %j", (schema, words) => {
  expect(kindInWords(schema)).toBe(words);
});

it("tells of each field whether it is required, and its default", () => {
  const rows = rowsOf({
    type: "object",
    properties: { prompt: { type: "string", default: null }, count: { type: "integer", default: 3, title: "Count" } },
    required: ["prompt"],
  });
  expect(rows.map(({ name, isRequired, initial }) => [name, isRequired, initial])).toEqual([
    ["prompt", true, undefined],
    ["count", false, "3"],
  ]);
});

it("says a span of time in its largest unit", () => {
  expect([86_400, 3_600, 300, 90, 1].map(spanInWords)).toEqual([
    "24 hours",
    "1 hour",
    "5 minutes",
    "90 seconds",
    "1 second",
  ]);
});
