const secondMs = 1_000;

/** A prediction ends soon after the files that it made are stored. */
const endsWithinMs = 60_000;

interface Span {
  from_date?: string;
  to_date?: string;
}

/**
 * Where in the usage a prediction stands of which a moment is known, likeliest first: it is charged, and its webhook
 * made, as it ends; files are stored up to a minute before. Without a moment it may be anywhere.
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
