import { expect, test } from "vitest";
import { labelled, liveEnd, timeScale, union, without } from "./time-scale.rules.ts";

test("a scale without waits is linear", () => {
  const { at, ticks, breaks } = timeScale(10_000, []);
  expect([0, 2_500, 10_000, 99_999, -5].map(at)).toEqual([0, 25, 100, 100, 0]);
  expect(ticks.map(({ label }) => label)).toEqual(["0", "2 s", "4 s", "6 s", "8 s", "10 s"]);
  expect(ticks.map((tick) => tick.at)).toEqual([0, 20, 40, 60, 80, 100]);
  expect(breaks).toEqual([]);
});

test("a long wait takes a quarter of the width, and the axis counts the rest", () => {
  const day = 24 * 3_600_000;
  const { at, ticks, breaks } = timeScale(day + 3_000, [{ from: 1_000, to: day + 1_000 }]);
  expect(at(1_000)).toBeCloseTo(25);
  expect(at(day + 1_000)).toBeCloseTo(50);
  expect(at(day + 3_000)).toBeCloseTo(100);
  expect(ticks.map(({ label }) => label)).toEqual(["0", "1 s", "2 s", "3 s"]);
  expect(ticks.map((tick) => Math.round(tick.at))).toEqual([0, 25, 75, 100]);
  expect(breaks).toEqual([{ left: 25, width: expect.closeTo(25), ms: day }]);
});

test("short waits, and a run that only waits, stay on a linear scale", () => {
  expect(timeScale(1_000, [{ from: 0, to: 200 }]).breaks).toEqual([]);
  const onlyWaits = timeScale(1_000, [{ from: 0, to: 1_000 }]);
  expect(onlyWaits.breaks).toEqual([]);
  expect(onlyWaits.at(500)).toBe(50);
});

test("an empty run has a scale", () => {
  const { at, ticks } = timeScale(0, []);
  expect(at(0)).toBe(0);
  expect(ticks.every((tick) => Number.isFinite(tick.at))).toBe(true);
});

test("ticks stay few and readable at any length", () => {
  for (const end of [3, 40, 999, 61_000, 3_700_000, 86_400_000 * 30]) {
    const { ticks } = timeScale(end, []);
    expect(ticks.length, String(end)).toBeLessThanOrEqual(6);
    expect(new Set(ticks.map(({ label }) => label)).size).toBe(ticks.length);
  }
  expect(timeScale(150_000, []).ticks.map(({ label }) => label)).toEqual([
    "0",
    "30 s",
    "1 m",
    "1 m 30 s",
    "2 m",
    "2 m 30 s",
  ]);
});

test("labels that would touch or stick out are left out", () => {
  const labels = (end: number, idle: { from: number; to: number }[] = []) =>
    labelled(timeScale(end, idle).ticks).map(({ label }) => label);
  expect(labels(10_000)).toEqual(["0", "2 s", "4 s", "6 s", "8 s"]);
  // The wait takes a quarter of the width, which moves the ticks of the work together.
  expect(labels(600_500, [{ from: 50, to: 600_050 }])).toEqual(["0", "100 ms", "300 ms"]);
  expect(labels(150_000)).toEqual(["0", "30 s", "1 m", "1 m 30 s"]);
});

test("the axis of a live run ends after now and moves in steps", () => {
  expect(liveEnd(0)).toBeGreaterThan(0);
  expect(liveEnd(10_000)).toBeGreaterThan(10_000);
  expect(liveEnd(10_100)).toBe(liveEnd(11_900));
});

test("spans are merged and subtracted", () => {
  const span = (from: number, to: number) => ({ from, to });
  expect(union([span(5, 7), span(0, 3), span(2, 4), span(9, 9)])).toEqual([span(0, 4), span(5, 7)]);
  expect(without([span(0, 10)], [span(2, 3), span(5, 20)])).toEqual([span(0, 2), span(3, 5)]);
  expect(without([span(0, 10)], [span(0, 10)])).toEqual([]);
});
