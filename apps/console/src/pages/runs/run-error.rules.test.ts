import type { RunRecord } from "@gantry/sdk";
import { expect, test } from "vitest";
import { adviceOn } from "./run-error.rules.ts";

const types = Object.keys({
  tool_error: 0,
  timeout: 0,
  internal: 0,
  cancelled: 0,
  limit_exceeded: 0,
  insufficient_funds: 0,
  invalid_input: 0,
} satisfies Record<NonNullable<RunRecord["error"]>["type"], 0>) as NonNullable<RunRecord["error"]>["type"][];

test("every failure has a sentence and a next step, never a type", () => {
  for (const type of types) {
    const advice = adviceOn({ type, message: type });
    if (type === "cancelled") expect(advice).toBeUndefined();
    else {
      expect(advice?.title, type).toMatch(/^[A-Z].+ .+ /);
      expect(advice?.title).not.toContain(type);
      expect(advice?.next, type).toMatch(/\.$/);
    }
  }
  expect(adviceOn({ type: "of the future" as "internal", message: "" })).toMatchObject({ title: "The run failed" });
});

test("internal errors have different titles", () => {
  const titleOf = (message: string) => adviceOn({ type: "internal", message })?.title;
  expect(titleOf("The model's answer never satisfied the output schema: /x is missing")).toMatch(/output schema/);
  expect(titleOf("The model failed: the service behind the model answered 500")).toBe("The model call failed");
  expect(titleOf("The agent's model a/b can no longer be called")).toMatch(/not available/);
  expect(titleOf("The API key does not have access to the agent's model")).toMatch(/not available/);
  expect(titleOf("internal")).toBe("Gantry could not finish this run");
});

test("the cause is a sentence, and not repeated", () => {
  expect(adviceOn({ type: "internal", message: "The model failed: no answer" })?.cause).toBe("No answer.");
  expect(adviceOn({ type: "internal", message: "The model failed: Store it with PUT /api/v2/secrets/a" })?.cause).toBe(
    "Save it under Secrets.",
  );
  expect(adviceOn({ type: "internal", message: "internal" })).not.toHaveProperty("cause");
  expect(adviceOn({ type: "internal", message: "The model refused to answer" })).not.toHaveProperty("cause");
});
