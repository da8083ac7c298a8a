/** The best round would be the one in which the competitor was disturbed. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) / 2)] ?? Number.NaN;
}
