import { describe, expect, it } from "vitest";
import { type ClockReading, isNewDifference, judgeClock } from "./clock-trust.rules.ts";

const hour = 3_600_000;
const known = Date.UTC(2026, 10, 16);

/** Readings one after another, each so many hours from what was known, after so many hours of a process's uptime. */
function verdicts(readings: [fromKnown: number, up: number][], trustedUntil: number = known): boolean[] {
  let last: ClockReading | undefined;
  let steadyMs = 0;
  return readings.map(([fromKnown, up]) => {
    const reading = { now: known + fromKnown * hour, upMs: up * hour };
    // Another process begins with an uptime of its own.
    if (last && last.upMs > reading.upMs) last = undefined;
    const verdict = judgeClock(reading, { trustedUntil, steadyMs, ...(last && { last }) });
    ({ steadyMs } = verdict);
    last = reading;
    return verdict.isTrusted;
  });
}

describe("a clock", () => {
  it("near what was known is trusted, a little ahead or behind", () => {
    expect(
      verdicts([
        [0, 0],
        [40, 0.1],
        [-40, 0.2],
      ]),
    ).toEqual([true, true, true]);
  });

  it.each([
    ["two years ahead", 17_520],
    ["three days ahead", 72],
    ["long before", -200_000],
  ])("%s is doubted, and believed when it has said so for hours", (_name, away) => {
    expect(
      verdicts([
        [away, 0],
        [away + 1, 1],
        [away + 2.9, 2.9],
        [away + 3, 3],
      ]),
    ).toEqual([false, false, false, true]);
  });

  it("that jumps again is doubted anew", () => {
    expect(
      verdicts([
        [100, 0],
        [9_002, 2],
        [9_004, 4],
        [9_005, 5],
      ]),
    ).toEqual([false, false, false, true]);
  });

  it("that comes back is trusted at once, and then doubted for as long as ever", () => {
    expect(
      verdicts([
        [100, 0],
        [2, 2],
        [104, 4],
        [105, 5],
      ]),
    ).toEqual([false, true, false, false]);
  });

  it("on a machine that runs for two hours a day, or sleeps in between, is believed on the second day", () => {
    const oneAfterAnother = verdicts([
      [60, 0],
      [62, 2],
      [84, 0],
      [85, 1],
    ]);
    const asleep = verdicts([
      [60, 0],
      [62, 2],
      [84, 2.1],
      [85, 3.1],
    ]);
    expect(oneAfterAnother).toEqual([false, false, false, true]);
    expect(asleep).toEqual([false, false, false, true]);
  });

  it("of which nothing is known is doubted", () => {
    expect(verdicts([[0, 0]], Number.NaN)).toEqual([false]);
  });
});

it.each([
  [0, 0, false],
  [4_000, 0, false],
  [-6_000, 0, true],
  [6_000, 5_500, false],
  [60_000, 6_000, true],
  [100, 6_000, true],
])("a difference of %d ms after %d was told is news: %s", (difference, told, isNews) => {
  expect(isNewDifference(difference, told)).toBe(isNews);
});
