import { describe, expect, it } from "vitest";
import { estimateInWords, priceParts } from "./price.rules.ts";

const prospect = { characters: 400, maxTokens: 1000, outputs: 1, timeoutSeconds: 300 };

describe("the price of a model in words", () => {
  it("names every part that costs something", () => {
    expect(priceParts({ per_request: 0.03 })).toEqual(["$0.03 a run"]);
    expect(priceParts({ per_million_input_tokens: 3, per_million_output_tokens: 15 })).toEqual([
      "$3.00 a million input tokens",
      "$15.00 a million output tokens",
    ]);
  });

  it("says that it is free, also where a price is zero", () => {
    expect(priceParts({})).toEqual(["Free"]);
    expect(priceParts({ per_request: 0 })).toEqual(["Free"]);
  });
});

describe("what a run may cost", () => {
  it("is exact where nothing depends on the run", () => {
    expect(estimateInWords({ per_request: 0.03 }, prospect)).toBe("$0.03 a run");
    expect(estimateInWords({ per_request: 0.03, per_output: 0.01 }, prospect)).toBe("$0.04 a run");
    expect(estimateInWords({}, prospect)).toBe("Free");
  });

  it("reckons with the longest answer", () => {
    const pricing = { per_million_input_tokens: 10, per_million_output_tokens: 100 };
    expect(estimateInWords(pricing, prospect)).toBe("About $0.1019 at most, with 1,000 tokens of answer");
  });

  it("reckons with all outputs that there can be", () => {
    const words = estimateInWords({ per_output: 0.01 }, { ...prospect, outputs: 3 });
    expect(words).toBe("About $0.03 at most, with 3 outputs");
  });

  it("reckons with the longest time", () => {
    expect(estimateInWords({ per_second: 0.01 }, prospect)).toBe("About $3.00 at most, with 300 seconds");
  });
});
