import { describe, expect, it } from "vitest";
import { estimateText, priceParts } from "./price.rules.ts";

const prospect = { characters: 400, maxTokens: 1000, outputs: 1, timeoutSeconds: 300 };

describe("price of a model", () => {
  it("lists every part that is not free", () => {
    expect(priceParts({ per_request: 0.03 })).toEqual(["$0.03 per run"]);
    expect(priceParts({ per_million_input_tokens: 3, per_million_output_tokens: 15 })).toEqual([
      "$3.00 per 1M input tokens",
      "$15.00 per 1M output tokens",
    ]);
  });

  it("is free without prices or with a price of zero", () => {
    expect(priceParts({})).toEqual(["Free"]);
    expect(priceParts({ per_request: 0 })).toEqual(["Free"]);
  });
});

describe("estimated cost of a run", () => {
  it("is exact for fixed prices", () => {
    expect(estimateText({ per_request: 0.03 }, prospect)).toBe("$0.03 per run");
    expect(estimateText({ per_request: 0.03, per_output: 0.01 }, prospect)).toBe("$0.04 per run");
    expect(estimateText({}, prospect)).toBe("Free");
  });

  it("assumes the longest output", () => {
    const pricing = { per_million_input_tokens: 10, per_million_output_tokens: 100 };
    expect(estimateText(pricing, prospect)).toBe("Up to about $0.1019 for 1,000 output tokens");
  });

  it("assumes the maximum number of outputs", () => {
    const text = estimateText({ per_output: 0.01 }, { ...prospect, outputs: 3 });
    expect(text).toBe("Up to about $0.03 for 3 outputs");
  });

  it("assumes the whole timeout", () => {
    expect(estimateText({ per_second: 0.01 }, prospect)).toBe("Up to about $3.00 for 300 seconds");
  });
});
