/** A process that has lived this long did not fail at its start. */
export const steadyMs = 30_000;
const longestDelayMs = 30_000;
const mostFailures = 5;

/** Before a process starts again, after so many quick ends in a row. */
export function restartDelayMs(failures: number): number {
  return failures === 0 ? 0 : Math.min(longestDelayMs, 250 * 2 ** (failures - 1));
}

/** Whether a process that ends again and again, while no other serves, ends the whole server. */
export function endsAll(failures: number): boolean {
  return failures >= mostFailures;
}
