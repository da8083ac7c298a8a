const firstStepMs = 5;
const growth = 1.25;
/** The last one holds everything above an hour and a half. */
export const latencySteps = 64;

export function stepOf(milliseconds: number): number {
  const step = Math.ceil(Math.log(Math.max(milliseconds, firstStepMs) / firstStepMs) / Math.log(growth));
  return Math.min(step, latencySteps - 1);
}

/** A percentile of counts by step, accurate to 12 %. Null without counts. */
export function percentileOf(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = Math.ceil(total * share);
  const step = counts.findIndex((count) => {
    left -= count;
    return left <= 0;
  });
  return Math.round(firstStepMs * growth ** (step - 0.5));
}
