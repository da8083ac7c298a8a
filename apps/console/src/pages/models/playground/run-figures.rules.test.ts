import { describe, expect, it } from "vitest";
import { figuresOf, tokensPerSecond } from "./run-figures.rules.ts";

const record = {
  price: 0.03,
  inference_time: 1.25,
  input_tokens: null,
  output_tokens: null,
  cached_tokens: null,
  cache_write_tokens: 0,
};

describe("figures of a run", () => {
  it("have cost and duration", () => {
    expect(figuresOf(record)).toEqual(["Cost $0.03", "Duration 1.3 s"]);
    expect(figuresOf({ ...record, price: 0, inference_time: null })).toEqual(["Free", "Never started"]);
    expect(figuresOf({ ...record, price: null })).toEqual(["Duration 1.3 s"]);
  });

  it("of a text have tokens, the time to the first one, and the speed", () => {
    const text = { ...record, input_tokens: 1200, output_tokens: 90, cached_tokens: 1000, cache_write_tokens: 7 };
    expect(figuresOf(text, { startedAt: 1_000, firstTextAt: 1_400, endedAt: 3_400 })).toEqual([
      "Cost $0.03",
      "Duration 1.3 s",
      "First token 400 ms",
      "45 tokens/s",
      "1,200 input tokens",
      "1,000 cached",
      "7 written to cache",
      "90 output tokens",
    ]);
  });

  it("have no speed where it means nothing", () => {
    expect(tokensPerSecond(90, { startedAt: 0, firstTextAt: 100, endedAt: 150 })).toBeUndefined();
    expect(tokensPerSecond(1, { startedAt: 0, firstTextAt: 100, endedAt: 5_000 })).toBeUndefined();
    expect(tokensPerSecond(90, { startedAt: 0, endedAt: 5_000 })).toBeUndefined();
    expect(tokensPerSecond(15, { startedAt: 0, firstTextAt: 0, endedAt: 2_000 })).toBe("7.5");
  });
});
