import { expect, test } from "vitest";
import { exampleInput } from "./example-input.rules.ts";

test("an example contains the required fields", () => {
  const properties = {
    topic: { type: "string" },
    depth: { type: "integer" },
    style: { enum: ["plain", "formal"] },
    at: {},
  };
  expect(exampleInput({ properties, required: ["topic", "depth", "style"] })).toEqual({
    topic: "…",
    depth: 1,
    style: "plain",
  });
  expect(exampleInput({})).toEqual({});
});
