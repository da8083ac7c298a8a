import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { Interrupted } from "../driver.ts";
import { RunClock } from "./run-clock.ts";

/** Waits for 60 ms, then runs for 40 ms. */
async function usedClock(): Promise<RunClock> {
  const clock = new RunClock();
  clock.begin();
  await sleep(60);
  clock.wait();
  clock.begin();
  await sleep(40);
  return clock;
}

it("counts the time before the last start as waiting", async () => {
  const waited = (await usedClock()).waitedMs();
  expect(waited).toBeGreaterThanOrEqual(59);
  expect(waited).toBeLessThan(1000);
});

it("believes a reported time that fits within the measured one", async () => {
  const clock = await usedClock();
  expect(clock.waitedMs(0.01)).toBeGreaterThan(clock.waitedMs() + 25);
});

it.each([-1, 3600, Number.NaN, Number.POSITIVE_INFINITY, "1", null, {}])("does not believe %j", async (reported) => {
  const clock = await usedClock();
  expect(Math.abs(clock.waitedMs(reported) - clock.waitedMs())).toBeLessThan(5);
});

it("never counts a negative run or one longer than the call", async () => {
  const clock = new RunClock();
  await sleep(20);
  expect(clock.waitedMs(0)).toBeGreaterThanOrEqual(19);
});

it("says that an interrupted call never began while it waits", () => {
  const clock = new RunClock();
  clock.begin();
  clock.wait();
  expect(clock.interrupted(new Error("x"), "left")).toMatchObject({
    waitedMs: Number.POSITIVE_INFINITY,
    cause: "left",
  });
});

it("keeps the usage of an interrupted call", async () => {
  const clock = await usedClock();
  const counted = new Interrupted(async () => ({ inputTokens: 1, outputTokens: 2 }), "left");
  const interrupted = clock.interrupted(counted, "left");
  expect(interrupted).toBe(counted);
  expect(interrupted.waitedMs).toBeGreaterThanOrEqual(59);
  expect(interrupted.waitedMs).toBeLessThan(1000);
});
