import { expect, it } from "vitest";
import { dollarsPerMillion } from "./prices.rules.ts";

it.each([
  ["0.00000015", 0.15],
  ["0.0000375", 37.5],
  ["0", 0],
  ["0.000000000001", 0.000001],
  ["0.0000000000001", 0.000001],
  ["0.00000012345678", 0.123457],
  ["0.000000123456", 0.123456],
  ["1e-7", 0.1],
  [1e-7, 0.1],
  [2.5e-6, 2.5],
  ["3", undefined],
  ["-1", undefined],
  ["-0.1", undefined],
  ["", undefined],
  ["free", undefined],
  ["1e99", undefined],
  ["Infinity", undefined],
  ["9".repeat(500), undefined],
  [Number.NaN, undefined],
  [null, undefined],
  [undefined, undefined],
  [{}, undefined],
])("reads %j for one token as %j for a million", (price, expected) => {
  expect(dollarsPerMillion(price, 6)).toBe(expected);
});

it.each([
  [0.88, 0.88],
  [0.1 + 0.2, 0.300001],
  [1, 1],
  ["1000000", 1_000_000],
  ["1000000.000001", undefined],
])("keeps %j for a million as %j", (price, expected) => {
  expect(dollarsPerMillion(price, 0)).toBe(expected);
});
