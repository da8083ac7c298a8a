import { describe, expect, it } from "vitest";
import { csvField, csvHeader, csvLines } from "./usage-csv.rules.ts";

describe("CSV", () => {
  it.each([
    ["plain", "plain"],
    ["a,b", '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ["two\nlines", '"two\nlines"'],
    ["two\r\nlines", '"two\r\nlines"'],
    ["", ""],
    [null, ""],
    [0, "0"],
    [0.000001, "0.000001"],
    [-1.5, "-1.5"],
  ])("%j is written %s", (value, text) => {
    expect(csvField(value)).toBe(text);
  });

  it("has a field for each column, in its order", () => {
    const record = {
      request_id: "pred_1",
      model_name: 'odd,"name"',
      route: "sync" as const,
      status: 200,
      created_at: "2026-01-31T23:59:59.000Z",
      inference_time: 1.25,
      input_tokens: null,
      output_tokens: 7,
      cached_tokens: 0,
      price: 0.03,
      cache_write_tokens: 3,
      door: null,
      backend: "main",
    };
    expect(csvHeader).toBe(`${Object.keys(record).join(",")}\r\n`);
    expect(csvLines([record])).toBe(
      'pred_1,"odd,""name""",sync,200,2026-01-31T23:59:59.000Z,1.25,,7,0,0.03,3,,main\r\n',
    );
    expect(csvLines([])).toBe("");
  });
});
