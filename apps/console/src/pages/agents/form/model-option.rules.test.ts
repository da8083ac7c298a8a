import { expect, test } from "vitest";
import { modelOption } from "./model-option.rules.ts";

test.each([
  [{ per_million_input_tokens: 3, per_million_output_tokens: 15 }, "a/b ($3.00 in, $15.00 out per 1M tokens)"],
  [{ per_request: 0.5 }, "a/b ($0.50 per run)"],
  [{ per_request: 1, per_million_input_tokens: 2 }, "a/b ($1.00 per run, $2.00 per 1m input tokens)"],
  [{}, "a/b (free)"],
])("an option for %j", (pricing, text) => {
  expect(modelOption({ endpoint_id: "a/b", pricing })).toBe(text);
});
