type Step = readonly [what: string, close: () => Promise<unknown> | undefined];

/** Closes parts one after the other and knows which one is closing. */
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
