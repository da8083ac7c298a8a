import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { throttled } from "./throttled.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("many calls become one per period, and the last one counts", () => {
  const call = vi.fn();
  const { run, stop } = throttled(call, () => 1_000);
  run();
  vi.advanceTimersByTime(0);
  expect(call).toHaveBeenCalledTimes(1);
  for (let n = 0; n < 50; n++) run();
  vi.advanceTimersByTime(999);
  expect(call).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1);
  expect(call).toHaveBeenCalledTimes(2);
  run();
  stop();
  vi.advanceTimersByTime(5_000);
  expect(call).toHaveBeenCalledTimes(2);
});
