import { expect, test } from "vitest";
import { bytes, elapsed, money, seconds, span } from "./format.ts";

test("small amounts have more decimals", () => {
  expect([0, 1234.5, 0.125, 0.000015, -2].map(money)).toEqual(["$0.00", "$1,234.50", "$0.125", "$0.000015", "−$2.00"]);
});

test("sizes and durations use a suitable unit", () => {
  expect([0, 1023, 1024, 1_536, 104_857_600].map(bytes)).toEqual(["0 B", "1023 B", "1.0 kB", "1.5 kB", "100 MB"]);
  expect([0.0123, 1.25, 75, 119.7, 59.97, 3_599.6, 93_785].map(seconds)).toEqual([
    "12 ms",
    "1.3 s",
    "1 min 15 s",
    "2 min 0 s",
    "1 min 0 s",
    "1 h 0 min",
    "26 h 3 min",
  ]);
});

test("a span uses the largest unit that divides it", () => {
  expect([86_400, 3_600, 300, 90, 1].map(span)).toEqual(["24 hours", "1 hour", "5 minutes", "90 seconds", "1 second"]);
});

test("a running clock counts whole seconds", () => {
  expect([-1, 0.9, 8.2, 68, 3_725].map(elapsed)).toEqual(["0 s", "0 s", "8 s", "1 min 08 s", "1 h 02 min"]);
});
