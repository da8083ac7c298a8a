import { expect, test } from "vitest";
import { labelOf } from "./input-labels.rules.ts";

test("fields are named by the model's schema, or by themselves", () => {
  const schema = { properties: { prompt: { title: "Prompt" }, size: { type: "string" } } };
  expect(labelOf("prompt", schema)).toBe("Prompt");
  expect(labelOf("size", schema)).toBe("size");
  expect(labelOf("constructor", schema)).toBe("constructor");
  expect(labelOf("prompt", undefined)).toBe("prompt");
});
