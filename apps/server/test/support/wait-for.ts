/** Resolves when the condition holds; rejects with what it was waiting for when it takes too long. */
export async function waitFor(
  what: string,
  condition: () => boolean | Promise<boolean>,
  milliseconds = 30_000,
): Promise<void> {
  for (const until = Date.now() + milliseconds; Date.now() < until; ) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`waited ${milliseconds} ms in vain for: ${what}`);
}
