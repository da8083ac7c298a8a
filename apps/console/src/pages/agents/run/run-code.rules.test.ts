import { expect, test } from "vitest";
import { curlRun, pythonRun, typescriptRun } from "./run-code.rules.ts";

const called = {
  origin: "http://localhost:8080",
  agent: "ann/reader",
  schema: {
    properties: { url: { type: "string", enum: ["it's"] }, deep: { type: "boolean" }, n: { type: "integer" } },
    required: ["url", "deep", "n"],
  },
};

test("every snippet has the address, the key of the environment and an example of the input", () => {
  expect(curlRun(called)).toBe(`curl http://localhost:8080/v1/agents/ann/reader/runs \\
  -H "X-API-KEY: $GANTRY_KEY" -H "Content-Type: application/json" \\
  -d '{"input":{"url":"it'\\''s","deep":true,"n":1},"wait":30}'`);
  expect(pythonRun(called)).toContain(`json={"input": {"url": "it's", "deep": True, "n": 1}, "wait": 30},`);
  expect(typescriptRun(called)).toContain('client.runs.create("ann/reader", {');
});
