import { GantryError } from "@gantry/sdk";
import { expect, test } from "vitest";
import { errorAt, isAllAt } from "./field-errors.rules.ts";

const issue = (loc: (string | number)[], message: string) => ({ loc, message, type: "value_error" });
const error = new GantryError({
  status: 400,
  type: "invalid_input",
  message: "wrong",
  retryable: false,
  requestId: undefined,
  body: undefined,
  issues: [issue(["body", "goal"], "cannot be parsed"), issue(["body", "tools", 1, "arguments"], "no such argument")],
});

test("what is wrong is told at the field, and where inside it", () => {
  expect(errorAt(error, "goal")).toBe("cannot be parsed");
  expect(errorAt(error, "tools")).toBe("1.arguments: no such argument");
  expect(errorAt(error, "tools", 1)).toBe("arguments: no such argument");
  expect(errorAt(error, "name")).toBeUndefined();
  expect(errorAt(new Error("other"), "goal")).toBeUndefined();
});

test("what no field shows is known", () => {
  expect(isAllAt(error, ["goal", "tools"])).toBe(true);
  expect(isAllAt(error, ["goal"])).toBe(false);
  expect(isAllAt(undefined, ["goal"])).toBe(false);
});
