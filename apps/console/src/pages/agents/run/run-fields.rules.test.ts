import { expect, test } from "vitest";
import { exampleInput, inputOf, runFieldsOf } from "./run-fields.rules.ts";

const schema = {
  type: "object",
  required: ["topic"],
  properties: {
    topic: { type: "string", description: "What it is about" },
    depth: { type: "integer", minimum: 1, maximum: 5, default: 2 },
    style: { enum: ["plain", "formal"] },
    urgent: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    places: { type: "array", items: { type: "object" } },
    weight: { type: "number" },
  },
};
const fields = runFieldsOf(schema) ?? [];

test("each field of a schema is asked for in its way", () => {
  expect(fields.map(({ name, kind }) => [name, kind])).toEqual([
    ["topic", "text"],
    ["depth", "integer"],
    ["style", "choice"],
    ["urgent", "yes-or-no"],
    ["tags", "lines"],
    ["places", "json"],
    ["weight", "number"],
  ]);
  expect(fields[1]).toMatchObject({ initial: "2", hint: "1 to 5" });
  expect(fields[5]).toMatchObject({ hint: "JSON: a list" });
});

test("a schema that names no fields has no form", () => {
  expect(runFieldsOf({ type: "object" })).toBeUndefined();
  expect(runFieldsOf({ type: "object", properties: {} })).toBeUndefined();
});

test("what is written becomes the input, and what is left empty is left out", () => {
  const written = { topic: "piers", urgent: "false", tags: "a\n\n b ", places: "[{}]", weight: "1.5" };
  expect(inputOf(fields, written)).toEqual({
    input: { topic: "piers", depth: 2, urgent: false, tags: ["a", "b"], places: [{}], weight: 1.5 },
  });
});

test("what cannot be read is told at its field", () => {
  expect(inputOf(fields, { weight: "heavy", places: "[a]" })).toEqual({
    faults: { topic: "This is needed", places: "No valid JSON", weight: "Must be a number" },
  });
});

test("an example has what is required", () => {
  expect(exampleInput(schema)).toEqual({ topic: "…" });
  expect(exampleInput({})).toEqual({});
});
