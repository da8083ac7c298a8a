import { expect, test } from "vitest";
import { previewInput } from "./preview.rules.ts";

const context = {
  body: { issue: { title: "Broken", labels: ["bug"], number: 7 } },
  headers: { "x-event": "opened" },
  query: {},
};

test("placeholders are filled, and a text that is one placeholder keeps the type", () => {
  const template = {
    text: "#{{body.issue.number}}: {{ body.issue.title }} ({{headers.x-event}})",
    labels: "{{body.issue.labels}}",
    list: ["{{body.issue.number}}", 3],
    missing: "{{body.nothing.here}}",
  };
  expect(previewInput(template, context)).toEqual({
    text: "#7: Broken (opened)",
    labels: ["bug"],
    list: [7, 3],
    missing: null,
  });
});

test("templates with blocks or helpers have no preview", () => {
  expect(previewInput({ a: "{{#if body.x}}yes{{/if}}" }, context)).toBeUndefined();
  expect(previewInput({ a: "{{json body}}" }, context)).toBeUndefined();
});

test("names of the language itself are not values", () => {
  expect(previewInput({ a: "{{body.constructor}}" }, context)).toEqual({ a: null });
});
