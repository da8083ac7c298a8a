const secondMs = 1_000;

/** Predictions end at most this long after their files are stored. */
const endsWithinMs = 60_000;

interface Span {
  from_date?: string;
  to_date?: string;
}

/**
 * Time ranges to search for a prediction, most likely first. `at` is the time of a charge or webhook, which is the end
 * of the prediction, or of a file, which is stored up to a minute before.
 */
export function spansAround(at: string | undefined): Span[] {
  if (at === undefined) return [{}];
  const moment = Date.parse(at);
  const span = (fromMs: number, toMs: number): Span => ({
    from_date: new Date(moment + fromMs).toISOString(),
    to_date: new Date(moment + toMs).toISOString(),
  });
  return [span(-secondMs, secondMs), span(secondMs, endsWithinMs)];
}
