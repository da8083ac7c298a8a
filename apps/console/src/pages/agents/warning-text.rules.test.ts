import { expect, test } from "vitest";
import { warningText } from "./warning-text.rules.ts";

test("a missing input tells how to fix it", () => {
  expect(warningText({ field: "goal", message: "input_schema has no subject" })).toBe(
    "The goal uses {{subject}}, but this input doesn't exist. Add it under Input.",
  );
});

test("other warnings show their field and message", () => {
  const message = "The output of a run is an object, but this schema does not accept objects";
  expect(warningText({ field: "output_schema", message })).toBe(`output_schema: ${message}`);
  expect(warningText({ field: "tools", message: "input_schema has no x" })).toBe("tools: input_schema has no x");
});
