import { setTimeout as sleep } from "node:timers/promises";
/** Resolves once the condition is true; rejects with the description after the time limit. */
export async function waitFor(
  what: string,
  condition: () => boolean | Promise<boolean>,
  milliseconds = 30_000,
): Promise<void> {
  for (const until = Date.now() + milliseconds; Date.now() < until; ) {
    if (await condition()) return;
    await sleep(10);
  }
  throw new Error(`waited ${milliseconds} ms in vain for: ${what}`);
}
