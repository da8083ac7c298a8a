import { expect, test } from "vitest";
import { wordsOfWarning } from "./warning-words.rules.ts";

test("an input that the goal alone names is told as what to do", () => {
  expect(wordsOfWarning({ field: "goal", message: "input_schema has no subject" })).toBe(
    "The goal uses {{subject}}, but there is no such input: add it under Input",
  );
});

test("any other warning stands as it came, after its field", () => {
  const message = "The output of a run is an object, which this schema does not accept";
  expect(wordsOfWarning({ field: "output_schema", message })).toBe(`output_schema: ${message}`);
  expect(wordsOfWarning({ field: "tools", message: "input_schema has no x" })).toBe("tools: input_schema has no x");
});
