import { expect, test } from "vitest";
import { type Interval, timeSpent } from "./waited-time.rules.ts";

test("a run without confirmations waited in the queue only", () => {
  expect(timeSpent([100, 500], { waiting: [[100, 150]], busy: [[200, 300]] })).toEqual({ workedMs: 350, waitedMs: 50 });
});

test("time in which something else works is not waited", () => {
  const waiting: Interval[] = [[10, 60]];
  const busy: Interval[] = [[20, 30]];
  expect(timeSpent([0, 100], { waiting, busy })).toEqual({ workedMs: 60, waitedMs: 40 });
});

test("parallel waits and parallel work count once", () => {
  const waiting: Interval[] = [
    [10, 50],
    [20, 60],
  ];
  const busy: Interval[] = [
    [55, 80],
    [50, 70],
  ];
  expect(timeSpent([0, 100], { waiting, busy })).toEqual({ workedMs: 60, waitedMs: 40 });
});

test("a clock that was set back gives no negative times", () => {
  expect(timeSpent([500, 100], { waiting: [[500, 400]], busy: [] })).toEqual({ workedMs: 0, waitedMs: 0 });
});

/** A small generator, so that a failure can be repeated. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

test("equals the count of milliseconds that wait and are not busy, for any intervals", () => {
  for (let seed = 1; seed <= 500; seed++) {
    const below = randomNumbers(seed);
    const intervals = () => Array.from({ length: below(8) }, (): Interval => [below(140) - 20, below(140) - 20]);
    const [waiting, busy] = [intervals(), intervals()];
    const within: Interval = [0, below(100)];
    const covers = (all: Interval[], at: number) => all.some(([from, to]) => from <= at && at < to);
    const expected = Array.from({ length: within[1] }, (_, at) => at).filter(
      (at) => covers(waiting, at) && !covers(busy, at),
    ).length;
    const { waitedMs, workedMs } = timeSpent(within, { waiting, busy });
    expect({ seed, waitedMs, sum: waitedMs + workedMs }).toEqual({ seed, waitedMs: expected, sum: within[1] });
  }
});
