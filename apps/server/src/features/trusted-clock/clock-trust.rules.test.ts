import { describe, expect, it } from "vitest";
import { type ClockReading, judgeClock } from "./clock-trust.rules.ts";

const hour = 3_600_000;
const known = Date.UTC(2026, 10, 16);

/** Consecutive readings: hours from the last trusted time, and hours of uptime. */
function verdicts(readings: [fromKnown: number, up: number][], trustedUntil: number = known): boolean[] {
  let last: ClockReading | undefined;
  let steadyMs = 0;
  return readings.map(([fromKnown, up]) => {
    const reading = { now: known + fromKnown * hour, upMs: up * hour };
    // A new process starts with a new uptime.
    if (last && last.upMs > reading.upMs) last = undefined;
    const verdict = judgeClock(reading, { trustedUntil, steadyMs, ...(last && { last }) });
    ({ steadyMs } = verdict);
    last = reading;
    return verdict.isTrusted;
  });
}

describe("a clock", () => {
  it("near its last trusted time is trusted", () => {
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
  ])("%s is trusted after it has run steadily for hours", (_name, away) => {
    expect(
      verdicts([
        [away, 0],
        [away + 1, 1],
        [away + 2.9, 2.9],
        [away + 3, 3],
      ]),
    ).toEqual([false, false, false, true]);
  });

  it("that jumps again is doubted again", () => {
    expect(
      verdicts([
        [100, 0],
        [9_002, 2],
        [9_004, 4],
        [9_005, 5],
      ]),
    ).toEqual([false, false, false, true]);
  });

  it("that comes back is trusted at once, and later doubted for the full time", () => {
    expect(
      verdicts([
        [100, 0],
        [2, 2],
        [104, 4],
        [105, 5],
      ]),
    ).toEqual([false, true, false, false]);
  });

  it("on a machine that runs two hours a day, or sleeps in between, is trusted on the second day", () => {
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

  it("without a trusted time is doubted", () => {
    expect(verdicts([[0, 0]], Number.NaN)).toEqual([false]);
  });
});
