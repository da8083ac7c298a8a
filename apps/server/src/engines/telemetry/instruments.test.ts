import { Counter, Histogram, Registry } from "prom-client";
import { expect, it } from "vitest";
import { createCounter, createHistogram, gaugeText } from "./instruments.ts";

/** Sorted, because libraries order labels differently. */
const lines = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(",").sort().join(",")}}`))
    .sort();

it("writes the same text as prom-client", async () => {
  const register = new Registry();
  const bounds = [0.1, 1, 10];
  const theirs = {
    counter: new Counter({ name: "c", help: "Counts.", labelNames: ["a", "b"], registers: [register] }),
    histogram: new Histogram({
      name: "h",
      help: "Measures.",
      labelNames: ["a"],
      buckets: bounds,
      registers: [register],
    }),
  };
  const ours = {
    counter: createCounter("c", "Counts.", ["a", "b"]),
    histogram: createHistogram("h", "Measures.", bounds, ["a"]),
  };
  for (const [a, b, value] of [
    ["x", "y", 1],
    ["x", "z", 0.25],
    ['q"uo\\te', "y", 12],
    ["x", "y", 1],
  ] as const) {
    theirs.counter.inc({ a, b }, value);
    ours.counter.at(`${a}\n${b}`).value += value;
  }
  for (const value of [0.05, 0.1, 0.2, 1, 9.5, 11, 11]) {
    theirs.histogram.observe({ a: "x" }, value);
    ours.histogram.at("x").observe(value);
  }
  expect(lines(ours.counter.text() + ours.histogram.text())).toEqual(
    lines((await register.metrics()).replaceAll("\n\n", "\n")),
  );
});

it("bounds the label values of a metric", () => {
  const counter = createCounter("c", "Counts.", ["a"]);
  for (let n = 0; n < 5000; n++) counter.at(`value ${n}`).value++;
  const text = counter.text();
  expect(text.split("\n").length).toBeLessThan(1010);
  expect(text).toContain('c{a="other"} 4000');
});

it("shows a counter without labels from the start", () => {
  expect(createCounter("c", "Counts.").text()).toContain("\nc 0\n");
  expect(gaugeText("g", "Is.", [['a="b"', 2.5]])).toBe('# HELP g Is.\n# TYPE g gauge\ng{a="b"} 2.5\n');
});
