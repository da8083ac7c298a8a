import { expect, it } from "vitest";
import { parseJson } from "./python-json.ts";

it("reads Python's numbers as null, but not within texts", () => {
  const text = '{"a": NaN, "b": [-Infinity, Infinity, 1e5], "NaN": "NaN, \\" Infinity \\\\", "c": "\\\\"}';
  expect(parseJson(text)).toEqual({ a: null, b: [null, null, 1e5], NaN: 'NaN, " Infinity \\', c: "\\" });
});

it.each(["", "<html>", '{"a": NaN', "NaNs", '{"a": nan}', '"\\', '"'])("refuses %j without quoting it", (text) => {
  expect(() => parseJson(text)).toThrow("did not answer with JSON");
});

it.each(['\\"', '"', "a", "\\", "-", "NaN "])("takes little time for many %j", (piece) => {
  const text = `{"a": "${piece.repeat(4_000_000 / piece.length)}`;
  const startedAt = performance.now();
  expect(() => parseJson(text)).toThrow("did not answer with JSON");
  expect(performance.now() - startedAt).toBeLessThan(5000);
});
