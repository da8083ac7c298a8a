/** Wrappers such as npx pass on what a terminal has sent to all processes: a signal that follows at once is the same one. */
const copyWithinMs = 300;

export function onSignals(names: readonly NodeJS.Signals[], handle: () => void): void {
  for (const name of names) {
    let last = Number.NEGATIVE_INFINITY;
    process.on(name, () => {
      const isCopy = performance.now() - last < copyWithinMs;
      last = performance.now();
      if (!isCopy) handle();
    });
  }
}
