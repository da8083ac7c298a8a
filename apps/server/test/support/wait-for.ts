import { setTimeout as sleep } from "node:timers/promises";

/** Conditions ask servers, so waiting costs processor time that other tests need. */
const longestPauseMs = 80;

/** Resolves once the condition is true; rejects with the description after the time limit. */
export async function waitFor(
  what: string,
  condition: () => boolean | Promise<boolean>,
  milliseconds = 30_000,
): Promise<void> {
  const until = Date.now() + milliseconds;
  for (let pause = 10; Date.now() < until; pause = Math.min(pause * 1.4, longestPauseMs)) {
    if (await condition()) return;
    await sleep(pause);
  }
  throw new Error(`waited ${milliseconds} ms in vain for: ${what}`);
}
