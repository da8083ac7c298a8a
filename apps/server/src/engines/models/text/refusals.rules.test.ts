import { describe, expect, it } from "vitest";
import { refusesField } from "./refusals.rules.ts";

describe("refusesField", () => {
  it.each([
    ["reasoning_effort", "Unrecognized request argument supplied: reasoning_effort"],
    ["parallel_tool_calls", "Unsupported parameter: 'parallel_tool_calls' is not supported with this model."],
    ["prompt_cache_key", "Extra inputs are not permitted: prompt_cache_key"],
    ["verbosity", '{"type":"extra_forbidden","loc":["body","verbosity"],"msg":"Extra inputs are not permitted"}'],
    ["verbosity", "Additional properties are not allowed ('verbosity' was unexpected)"],
    ["service_tier", "property 'service_tier' is unsupported"],
    ["verbosity", "unknown field `verbosity`, expected one of `model`, `messages`"],
    ["verbosity", '{"message":"Unknown parameter.","param":"verbosity","code":"unknown_parameter"}'],
    ["reasoning_effort", "The model `gpt-4o` does not support `reasoning_effort`."],
    ["temperature", "`temperature` is deprecated for this model."],
    ["thinking", "thinking: this model does not support thinking"],
  ])("is true if the server does not know %s: %s", (field, body) => {
    expect(refusesField(body, field)).toBe(true);
  });

  it.each([
    [
      "reasoning_effort",
      `{"message":"Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values ` +
        `are: 'low', 'medium', and 'high'.","param":"reasoning_effort","code":"unsupported_value"}`,
    ],
    ["reasoning_effort", "'reasoning_effort' does not support 'none' with this model."],
    ["reasoning_effort", "`reasoning_effort` must be one of `none` or `default`"],
    ["reasoning_effort", "reasoning_effort: unknown variant `none`, expected one of `low`, `medium`, `high`"],
    ["reasoning_effort", `{"type":"literal_error","loc":["body","reasoning_effort"],"msg":"Input should be 'high'"}`],
    ["verbosity", "unexpected value; permitted: 'low', 'medium' (verbosity)"],
    ["verbosity", "Invalid value: 'verbosity'. Supported values are: 'auto', 'default', and 'flex'."],
    [
      "parallel_tool_calls",
      "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
    ],
    ["max_completion_tokens", "max_completion_tokens is too large: 200000. This model supports at most 16384 tokens."],
    ["max_completion_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model."],
    ["thinking", "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"],
    ["thinking", "`max_tokens` must be greater than `thinking.budget_tokens`."],
    ["thinking", "messages.1.content.0: Invalid `signature` in `thinking` block"],
    ["thinking", "messages.1.content.0: `thinking` blocks in the latest assistant message cannot be modified."],
    ["temperature", "temperature: range: 0..1"],
    ["temperature", "`temperature` and `top_p` cannot both be specified for this model. Please use only one."],
  ])("is false if it refuses a value, or anything but %s: %s", (field, body) => {
    expect(refusesField(body, field)).toBe(false);
  });
});
