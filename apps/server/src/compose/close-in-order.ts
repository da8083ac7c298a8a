type Step = readonly [what: string, close: () => Promise<unknown> | undefined];

/** Parts that need each other, closed one after the other, and which of them it is that lasts. */
export function closeInOrder(steps: readonly Step[]): { close(): Promise<void>; current(): string | undefined } {
  let current: string | undefined;
  return {
    async close() {
      for (const [what, close] of steps) {
        current = what;
        await close();
      }
      current = undefined;
    },
    current: () => current,
  };
}
