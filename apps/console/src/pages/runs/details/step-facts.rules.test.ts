import type { TraceStep } from "@gantry/sdk";
import { expect, test } from "vitest";
import { stepFacts } from "./step-facts.rules.ts";

const usage = { input_tokens: 1_200, output_tokens: 50, cached_tokens: 1_000, cache_write_tokens: 0 };
const model = { kind: "model", duration_ms: 1_500, first_token_ms: 500, usage, cost: 0.25 } as TraceStep;

test("a model call shows its speed from the first token on", () => {
  expect(stepFacts(model)).toEqual([
    ["Duration", "1.5 s"],
    ["First token", "after 500 ms"],
    ["Speed", "50 tokens/s"],
    ["Tokens", "1,200 in, 50 out (1,000 cached)"],
    ["Cost", "$0.25"],
  ]);
});

test("what is not known, or says nothing, is left out", () => {
  expect(stepFacts({ kind: "tool", duration_ms: null } as TraceStep)).toEqual([]);
  const short = { ...model, duration_ms: 520, queued_ms: 0 };
  expect(stepFacts(short).map(([name]) => name)).toEqual(["Duration", "First token", "Tokens", "Cost"]);
});
