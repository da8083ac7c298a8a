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

/**
 * A percentile of counts by step, interpolated within its step, so that a chart does not jump from step to step. `steps` are
 * numbered from 1, as in the sums of usage. Null without counts.
 */
export function interpolatedPercentile(counts: ReadonlyMap<number, number>, share: number): number | null {
  const steps = [...counts].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
  const total = steps.reduce((sum, [, count]) => sum + count, 0);
  let left = total * share;
  for (const [step, count] of steps) {
    if (left <= count) return boundOf(step - 1) + (boundOf(step) - boundOf(step - 1)) * (left / count);
    left -= count;
  }
  return null;
}

/** The upper bound of a step in milliseconds. */
function boundOf(step: number): number {
  return step < 1 ? 0 : firstStepMs * growth ** (step - 1);
}
